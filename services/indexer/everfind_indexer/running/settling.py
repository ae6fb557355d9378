"""Documents' fates: kept where a document says what it said, else at the end of a run what all of them say together."""

from __future__ import annotations

from dataclasses import replace
from itertools import islice

from everfind_core.lifecycle import Vocabulary, join_refs, settle
from everfind_indexer.index.document_lives import DocumentLives
from everfind_indexer.index.target import Target
from everfind_indexer.running.preparing import PreparedFile

RESTATED_FILES = 1_000


def with_noted_fate(file: PreparedFile, lives: DocumentLives) -> PreparedFile:
    """A document that says what it said before, with the fate that its rows had: nothing is unsettled by it."""
    fate = lives.noted(file.state.ref, file.statement) if file.statement else None
    if fate is None:
        return file
    successor = join_refs(fate.successors)
    rows = (replace(row, status=fate.status, date=fate.date, successor=successor) for row in file.rows)
    return replace(file, rows=tuple(rows), fresh=False)


def settle_documents(target: Target, vocabulary: Vocabulary) -> None:
    """Give every document the fate that follows from all statements. Embeds nothing; may be repeated at any time."""
    lives = target.catalog.lives
    if lives.is_settled():
        return
    documents = lives.all()
    settled = settle({ref: statement for ref, (statement, _) in documents.items()}, vocabulary)
    changed = {ref: fate for ref, fate in settled.fates.items() if fate != documents[ref][1]}
    lives.doubt(changed)
    rest = iter(changed.items())
    while part := dict(islice(rest, RESTATED_FILES)):
        target.store.restate(part)
    lives.settle(changed, settled.problems, generation=target.store.generation())
