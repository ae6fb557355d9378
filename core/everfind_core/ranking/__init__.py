"""The default ranking: from what both arms found to one order, with the reasons. Pure.

``query`` reads the query, ``paths`` and ``features`` read what was found, ``evidence`` weighs the arms, ``rules`` are
the ranking rules, ``weights`` their one table, ``combine`` puts all together in a ``ledger``, ``admission`` says what
may answer.
"""

from everfind_core.ranking.admission import Admission, Limits, admit
from everfind_core.ranking.combine import Candidate, Placed, order
from everfind_core.ranking.compound import parts_of
from everfind_core.ranking.ledger import Ledger
from everfind_core.ranking.query import Intent, Query, read_query
from everfind_core.ranking.weights import WEIGHTS, Weights

__all__ = [
    "WEIGHTS",
    "Admission",
    "Candidate",
    "Intent",
    "Ledger",
    "Limits",
    "Placed",
    "Query",
    "Weights",
    "admit",
    "order",
    "parts_of",
    "read_query",
]
