"""What each ranking rule is worth on a labelled set: ``python -m bench.ablation SET INDEX_DIR [--json FILE]``.

``SET`` is a set as ``everfind eval`` takes it, ``INDEX_DIR`` what ``everfind eval SET --index-dir INDEX_DIR`` made.
Both arms are asked once a question; then each way to rank is measured on the same candidates.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from everfind_core.cancellation import Cancellation
from everfind_core.index.directory import current_index
from everfind_core.model import Filters, SearchMode
from everfind_core.ports import ScoredChunk
from everfind_core.ranking import WEIGHTS, Candidate, Weights, order, read_query
from everfind_core.text.lexical import query_terms
from everfind_embedder import EmbedderSettings, open_embedder
from everfind_gateway.evaluation.labelled import EvaluationSet, Question, read_set
from everfind_gateway.evaluation.measures import RankedChunk, mean, measure
from everfind_searcher.asking.query_vectors import QueryVectors
from everfind_searcher.asking.reader import ReadQuestion
from everfind_searcher.ordering.finding import CANDIDATES, found_by_words
from everfind_searcher.ordering.ranking import rank
from everfind_searcher.settings import Fusion
from everfind_searcher.store import open_reader

RRF_K = 60
RULES = {
    "definition": ("definition_asked_for", "definition_in_sentence"),
    "file stem": ("stem",),
    "directories": ("path",),
    "wording": ("wording",),
    "quoted": ("quoted",),
    "file coherence": ("coherence",),
    "test": ("test",),
    "example": ("example",),
    "legacy": ("legacy",),
    "generated, record": ("generated", "record"),
    "internal": ("internal",),
    "index file": ("index",),
    "repeat": ("repeat",),
}
EVIDENCE = {"scatter": ("semantic_for_scatter",), "nearness": ("semantic_slope",), "crowding": ("crowding",)}


@dataclass(frozen=True, slots=True)
class Asked:
    """A question and what both arms found."""

    question: Question
    semantic: Sequence[ScoredChunk]
    lexical: Sequence[ScoredChunk]


Ranking = Callable[[Asked], Sequence[ScoredChunk]]


def ask(labelled: EvaluationSet, index_directory: Path) -> Iterator[Asked]:
    """Ask both arms every question."""
    embedder = open_embedder(EmbedderSettings())
    vectors, never = QueryVectors(embedder), Cancellation()
    reader = open_reader(current_index(index_directory).directory)
    for question in labelled.questions:
        where = Filters(folders=(question.root,) if question.root else ())
        vector = vectors.of(question.query, never)
        read = ReadQuestion((), query_terms(question.query), read_query(question.query).quotations)
        yield Asked(
            question,
            reader.semantic(vector, CANDIDATES, where),
            found_by_words(reader, where, read),
        )
    embedder.close()


def rankings() -> Iterator[tuple[str, Ranking]]:
    """Every way to rank, by name."""
    yield "lexical arm", lambda asked: asked.lexical
    yield "semantic arm", lambda asked: asked.semantic
    yield "reciprocal ranks", _reciprocal
    rules = [weight for group in RULES.values() for weight in group]
    yield "arms mixed, no rule", _weighted(replace(WEIGHTS, **dict.fromkeys(rules, 0.0)))
    yield "all", _weighted(WEIGHTS)
    for name, group in (RULES | EVIDENCE).items():
        yield f"without {name}", _weighted(replace(WEIGHTS, **dict.fromkeys(group, 0.0)))


def _reciprocal(asked: Asked) -> list[ScoredChunk]:
    query, mode = asked.question.query, SearchMode.HYBRID
    ranking = rank(query, asked.semantic, asked.lexical, mode=mode, fusion=Fusion.RRF, rrf_k=RRF_K)
    return [ScoredChunk(one.candidate.chunk, one.score) for one in ranking.placed]


def _weighted(weights: Weights) -> Ranking:
    def by_rules(asked: Asked) -> list[ScoredChunk]:
        chunks = {found.chunk.chunk_id: found.chunk for found in (*asked.semantic, *asked.lexical)}
        cosines = {found.chunk.chunk_id: found.score for found in asked.semantic}
        vectors = {found.chunk.chunk_id: found.vector for found in asked.semantic}
        scores = {found.chunk.chunk_id: found.score for found in asked.lexical}
        candidates = [
            Candidate(chunk, cosines.get(key), scores.get(key), vectors.get(key)) for key, chunk in chunks.items()
        ]
        placed = order(asked.question.query, candidates, weights)
        return [ScoredChunk(one.candidate.chunk, one.score) for one in placed]

    return by_rules


def measured(labelled: EvaluationSet, asked: Sequence[Asked], ranking: Ranking) -> dict[str, float]:
    """The means of all measures over the questions."""
    return mean(
        measure(
            [
                RankedChunk(
                    labelled.corpus_path(f.chunk.ref.folder, f.chunk.ref.path), f.chunk.start_line, f.chunk.end_line
                )
                for f in ranking(one)
            ],
            one.question.answers,
            ignore=one.question.ignore,
            stale=one.question.stale,
        )
        for one in asked
    )


def main() -> None:
    """Print a line for each way to rank."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("set", type=Path)
    parser.add_argument("index_dir", type=Path)
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    labelled = read_set(arguments.set)
    asked = list(ask(labelled, arguments.index_dir))
    found = {}
    for name, ranking in rankings():
        found[name] = measured(labelled, asked, ranking)
        shown = "  ".join(f"{key} {found[name][key]:.3f}" for key in ("nDCG@10", "chunk_nDCG@10", "R@1"))
        print(f"{name:<28} {shown}", flush=True)
    if arguments.json:
        arguments.json.write_text(json.dumps(found, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
