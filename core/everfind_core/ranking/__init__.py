"""The default ranking: from what both arms found to one order, with the reasons. Pure.

``query`` reads the query, ``paths`` and ``features`` read what was found, ``evidence`` weighs the arms, ``rules`` are
the ranking rules, ``weights`` their one table, and ``combine`` puts all together.
"""

from everfind_core.ranking.combine import Candidate, Placed, order
from everfind_core.ranking.query import Intent, Query, read_query
from everfind_core.ranking.weights import WEIGHTS, Weights

__all__ = ["WEIGHTS", "Candidate", "Intent", "Placed", "Query", "Weights", "order", "read_query"]
