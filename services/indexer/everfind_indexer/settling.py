"""The end of a run, for documents: what all of them say together, brought into the store where it says otherwise."""

from __future__ import annotations

from itertools import islice

from everfind_core.lifecycle import Vocabulary, settle
from everfind_indexer.target import Target

RESTATED_FILES = 1_000


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
