"""One answer out of several: each part of a compound question gets its share of the places. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from everfind_core.model import Abstention, Hidden
from everfind_searcher.ordering.ranking import Ranked

RULE = "part"


def share(answers: Sequence[Sequence[Ranked]]) -> list[Ranked]:
    """The hits of all answers in turns, best first, each chunk once; a part that runs out leaves its turns to others.

    A score never passes the one before it, so that scores still order the answer.
    """
    taken: set[str] = set()
    shared: list[Ranked] = []
    queues = [iter(answer) for answer in answers]
    while queues:
        for queue in list(queues):
            following = next((one for one in queue if one.chunk.chunk_id not in taken), None)
            if following is None:
                queues.remove(queue)
                continue
            taken.add(following.chunk.chunk_id)
            shared.append(_below(following, shared[-1].score if shared else following.score))
    return shared


def strongest(abstentions: Sequence[Abstention | None]) -> Abstention | None:
    """Of several reasons for silence, the one that was nearest to an answer."""
    return max((one for one in abstentions if one is not None), key=lambda one: one.best_score, default=None)


def all_hidden(hidden: Sequence[Hidden]) -> Hidden:
    """What was hidden from any part; a file that was hidden from two counts once where the parts agree on it."""
    rules: Counter[str] = Counter()
    for one in hidden:
        rules |= Counter(one.by_rule)
    best = next((one for one in hidden if one.best_path), Hidden())
    return Hidden(rules.total(), dict(rules), best.best_path, best.best_folder)


def _below(one: Ranked, most: float) -> Ranked:
    if one.score <= most:
        return one
    return replace(one, score=most, parts=(*one.parts, (RULE, most - one.score)))
