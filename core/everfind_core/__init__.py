"""The domain of everfind: model, ports, errors and the pure pieces of both data flows. Imports no I/O framework."""

__version__ = "0.1.0"
