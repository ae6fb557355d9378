"""What documents say of their own life, and what follows for others: status, date, and what replaces what. Pure.

``header`` finds a document's header fields in the usual forms, ``vocabulary`` names what they can mean, ``statement``
reads them, ``references`` finds the documents that they name, ``fates`` draws the conclusions over all documents, and
``quiet`` keeps the statements out of what is embedded.
"""

from everfind_core.lifecycle.fates import Fate, Fates, Problem, settle
from everfind_core.lifecycle.labels import join_refs, shown_successors, split_refs
from everfind_core.lifecycle.quiet import with_lines, without_lines
from everfind_core.lifecycle.statement import Read, Statement, read_document
from everfind_core.lifecycle.vocabulary import DEFAULT_VOCABULARY, Vocabulary

REVISION = "lifecycle-3"
"""Changes whenever a document could be read otherwise; part of an index's recipe."""

__all__ = [
    "DEFAULT_VOCABULARY",
    "REVISION",
    "Fate",
    "Fates",
    "Problem",
    "Read",
    "Statement",
    "Vocabulary",
    "join_refs",
    "read_document",
    "settle",
    "shown_successors",
    "split_refs",
    "with_lines",
    "without_lines",
]
