"""What an answer costs an agent: ``python -m bench.agents SET INDEX_DIR``.

``SET`` is a set as ``everfind eval`` takes it, ``INDEX_DIR`` what ``everfind eval SET --index-dir INDEX_DIR`` made. For
each question: whether the first relevant file is in front of an agent that has read so many tokens, with

- *search*: the text of the MCP tool `search`, asked with the budget as `max_tokens`, and as many hits and further files
  as fit;
- *search, hits alone*: the same without further files;
- *grep and read*, a fixed policy: grep, ignoring case, for the question's words of three characters or more, English's
  most frequent left out; up to three matching lines a file, of at most 200 characters, files with most different
  words first; then those files, the first 400 lines of each, in the same order. A matching line counts as the file.

Recall at N is the share of questions for which N tokens sufficed. Tokens are the embedding model's.
"""

from __future__ import annotations

import argparse
import re
import statistics
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from everfind_core.model import Filters, SearchRequest
from everfind_gateway.config.settings import load_settings
from everfind_gateway.evaluation.labelled import EvaluationSet, Question, read_set
from everfind_gateway.wiring.workspace import Workspace, open_workspace

BUDGETS = (500, 1_000, 2_000, 4_000)
FREQUENT = frozenset(
    [
        "a",
        "an",
        "and",
        "are",
        "as",
        "at",
        "be",
        "but",
        "by",
        "can",
        "do",
        "does",
        "for",
        "from",
        "has",
        "have",
        "how",
        "i",
        "if",
        "in",
        "into",
        "is",
        "it",
        "its",
        "not",
        "of",
        "on",
        "or",
        "should",
        "so",
        "than",
        "that",
        "the",
        "their",
        "then",
        "there",
        "these",
        "this",
        "to",
        "use",
        "used",
        "using",
        "was",
        "what",
        "when",
        "where",
        "which",
        "who",
        "why",
        "will",
        "with",
        "you",
    ]
)
LISTED_FILES = 20
LISTED_LINES = 3
LINE_CHARACTERS = 200
READ_FILES = 10
READ_LINES = 400
MOST = 100

Piece = tuple[str, str]
"""A file, relative to ``corpus/``, and the text about it that the agent gets."""


@dataclass(frozen=True, slots=True)
class Source:
    """A text file of the corpus, as grep sees it."""

    path: str
    text: str
    lowered: str


def searched(workspace: Workspace, labelled: EvaluationSet, question: Question, budget: int, further: int) -> set[str]:
    """The files that the text of `search` shows within the budget, relative to ``corpus/``."""
    filters = Filters(folders=(question.root,) if question.root else ())
    request = SearchRequest(question.query, limit=MOST, filters=filters, max_tokens=budget, further=further)
    answer = workspace.searcher.search(request)
    shown = [(hit.folder, hit.path) for hit in answer.hits] + [(file.folder, file.path) for file in answer.further]
    return {labelled.corpus_path(folder, path) for folder, path in shown}


def grepped(sources: Sequence[Source], question: Question) -> Iterator[Piece]:
    """What grep prints, then the files."""
    words = {word for word in re.findall(r"\w{3,}", question.query.lower()) if word not in FREQUENT}
    below = f"{question.root}/" if question.root else ""
    ranked = []
    for source in sources:
        if source.path.startswith(below) and (present := [word for word in words if word in source.lowered]):
            occurrences = sum(source.lowered.count(word) for word in present)
            ranked.append((-len(present), -occurrences, source.path, source))
    ranked.sort(key=lambda entry: entry[:3])
    files = [entry[3] for entry in ranked]
    for source in files[:LISTED_FILES]:
        matching = [
            (number, line)
            for number, line in enumerate(source.text.splitlines(), start=1)
            if any(word in line.lower() for word in words)
        ]
        listed = [
            f"{source.path}:{number}:{line.strip()[:LINE_CHARACTERS]}" for number, line in matching[:LISTED_LINES]
        ]
        yield source.path, "\n".join(listed)
    for source in files[:READ_FILES]:
        yield source.path, "\n".join(source.text.splitlines()[:READ_LINES])


def read_within(pieces: Iterator[Piece], budget: int, count: Callable[[str], int]) -> set[str]:
    """The files of the pieces that fit into the budget, in their order."""
    read = set()
    for path, text in pieces:
        budget -= count(text)
        if budget < 0:
            break
        read.add(path)
    return read


def read_sources(corpus: Path) -> list[Source]:
    """Every text file below ``corpus``."""
    sources = []
    for path in sorted(corpus.rglob("*")):
        if path.is_file():
            text = path.read_bytes()[:500_000].decode("utf-8", "replace")
            sources.append(Source(path.relative_to(corpus).as_posix(), text, text.lower()))
    return sources


def main() -> None:
    """Print recall within each budget for each way."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("set", type=Path)
    parser.add_argument("index_dir", type=Path)
    arguments = parser.parse_args()
    labelled = read_set(arguments.set)
    settings = load_settings().model_copy(
        update={"folders": labelled.folders, "index_dir": arguments.index_dir.resolve()}
    )
    sources = read_sources(labelled.corpus)
    with open_workspace(settings) as workspace:
        tokenizer = workspace.embedder.tokenizer()

        def count(text: str) -> int:
            return len(tokenizer.encode(text).ids)

        ways: dict[str, Callable[[Question, int], set[str]]] = {
            "search": lambda question, budget: searched(workspace, labelled, question, budget, MOST),
            "search, hits alone": lambda question, budget: searched(workspace, labelled, question, budget, 0),
            "grep and read": lambda question, budget: read_within(grepped(sources, question), budget, count),
        }
        for name, way in ways.items():
            recalls = [
                statistics.mean(
                    any(answer.path in found for answer in question.answers)
                    for question in labelled.questions
                    for found in [way(question, budget)]
                )
                for budget in BUDGETS
            ]
            shown = "  ".join(f"@{budget} {recall:.3f}" for budget, recall in zip(BUDGETS, recalls, strict=True))
            print(f"{labelled.name:<14} {name:<18} {shown}", flush=True)


if __name__ == "__main__":
    main()
