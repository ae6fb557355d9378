"""Between the core model and the contracts: for each type a pure ``…_to_proto`` and ``…_from_proto``.

A value survives the way there and back unchanged, so that a remote engine answers, and refuses, exactly as a local
one. What only the wire can get wrong is checked here and ends in an ``InvalidRequestError`` that names the field:
enum values that nobody knows, batches that do not add up, numbers and texts that the wire cannot carry. What is wrong
with a request itself (ranges, empty queries, bad globs) is the engine's to say, in one place for all transports.

An answer may hold enum values of a newer server; each reads as the stated fallback instead of failing the answer.
"""
