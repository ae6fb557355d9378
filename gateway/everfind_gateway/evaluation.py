"""``everfind eval``: measure retrieval on a labelled set, through the same ports as every search."""

from __future__ import annotations

import contextlib
import json
import math
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from everfind_core.cancellation import Cancellation
from everfind_core.errors import InvalidRequestError, StorageError
from everfind_core.measures import DEPTH, Found, mean, measure
from everfind_core.model import Coverage, Filters, Hit, IndexRequest, SearchMode, SearchRequest
from everfind_core.ports import EventSink, Indexer, Searcher
from everfind_gateway.evaluation_set import UNANSWERABLE, EvaluationSet, Question, read_set
from everfind_gateway.settings import Settings
from everfind_gateway.workspace import OpenWorkspace, open_workspace

PAGE = 100
"""Hits asked for at a time: the most that one search gives."""

_OWN_INDEX = "Give a directory that serves this set alone, or none for a throw-away index."


@dataclass(frozen=True, slots=True)
class Measured:
    """Means over so many questions; each measure over those to which it applies."""

    questions: int
    measures: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Measures:
    """What all questions and those of each kind measured."""

    overall: Measured
    by_kind: Mapping[str, Measured]

    def as_json(self) -> dict[str, Any]:
        """As an object; measures have four decimals."""
        return {
            "measures": _rounded(self.overall.measures),
            "by_kind": {k: {"questions": m.questions} | _rounded(m.measures) for k, m in self.by_kind.items()},
        }


@dataclass(frozen=True, slots=True)
class Share:
    """So many of so many questions."""

    count: int
    questions: int

    @classmethod
    def total(cls, shares: Iterable[Share]) -> Share:
        """All of them together."""
        together = tuple(shares)
        return cls(sum(one.count for one in together), sum(one.questions for one in together))


@dataclass(frozen=True, slots=True)
class EvalReport:
    """What an evaluation found.

    ``answered`` questions had hits; ``floor_off`` are the same measures where every hit may answer. ``kept`` counts by
    kind, of the questions with a relevant file among the first ten without a floor, those that still have it;
    ``silent`` counts by kind, of the questions without an answer, those that were met with silence. ``p50`` and ``p95``
    are seconds of one search for 100 hits with model and index warm; ``index_seconds`` is what indexing took.
    """

    name: str
    mode: SearchMode
    answered: int
    measured: Measures
    p50: float
    p95: float
    coverage: Coverage
    index_seconds: float
    floor_off: Measures
    kept: Mapping[str, Share]
    silent: Mapping[str, Share]

    @property
    def unanswerable(self) -> Share:
        """Of all questions without an answer, those that were met with silence."""
        return Share.total(self.silent.values())

    def as_json(self) -> dict[str, Any]:
        """The report as one object; measures have four decimals."""
        return {
            "set": self.name,
            "mode": self.mode.value,
            "questions": self.measured.overall.questions,
            "answered": self.answered,
            **self.measured.as_json(),
            "floor_off": self.floor_off.as_json(),
            "milliseconds": {"p50": round(self.p50 * 1000, 1), "p95": round(self.p95 * 1000, 1)},
            "index": {
                "files": self.coverage.files,
                "chunks": self.coverage.chunks,
                "skipped": dict(self.coverage.skipped),
                "seconds": round(self.index_seconds, 1),
            },
            "kept": {kind: {"found": one.questions, "kept": one.count} for kind, one in self.kept.items()},
            "unanswerable": {"questions": self.unanswerable.questions, "silent": self.unanswerable.count}
            | {"by_kind": {k: {"questions": s.questions, "silent": s.count} for k, s in self.silent.items()}},
        }


@dataclass(frozen=True, slots=True)
class _Asked:
    """A question's hits, with paths relative to ``corpus/``, and their scores; the time that its search took."""

    question: Question
    ranking: Sequence[Found]
    scores: Sequence[float]
    seconds: float


def run_eval(
    directory: Path,
    *,
    settings: Settings,
    mode: SearchMode = SearchMode.HYBRID,
    results: Path | None = None,
    unanswerable: Path | None = None,
    index_dir: Path | None = None,
    open_workspace: OpenWorkspace = open_workspace,
    on_event: EventSink = lambda _: None,
    cancel: Cancellation | None = None,
) -> EvalReport:
    """Index the set in ``directory``, ask all its questions, and measure the answers.

    ``settings`` apply but for their folders and index. ``index_dir`` keeps the index there, and uses what it already
    holds; without it the index is thrown away. ``results`` and ``unanswerable`` are files to write the hits to, as
    JSON lines ``{"id", "results": [{"path", "start_line", "end_line", "score"}]}`` with paths relative to ``corpus/``.

    Raises:
        InvalidRequestError: the set is malformed, or a path cannot be used.
        StorageError: an output file cannot be written.
        EverfindError: what indexing and searching raise.
    """
    labelled = read_set(directory, unanswerable=unanswerable is not None or (directory / UNANSWERABLE).exists())
    for field, output in (("results", results), ("unanswerable", unanswerable)):
        _check_output(field, output)
    with _index_directory(settings, index_dir) as where:
        chosen = settings.model_copy(update={"folders": labelled.folders, "index_dir": where})
        with open_workspace(chosen) as workspace:
            _check_own(workspace.indexer, labelled)
            started = time.perf_counter()
            workspace.indexer.index(IndexRequest(), on_event, cancel=cancel)
            index_seconds = time.perf_counter() - started
            asker = _Asker(labelled, workspace.searcher, mode, cancel)
            asker.ask(labelled.questions[0])  # the first search loads the model and opens the index: not timed
            asked = [asker.ask(question) for question in labelled.questions]
            unlimited = [asker.ask(question, floor=False) for question in labelled.questions]
            others = [asker.ask(question) for question in labelled.unanswerable]
            coverage = workspace.indexer.status().coverage
    _write(results, asked)
    _write(unanswerable, others)
    return _report(labelled, mode, asked, unlimited, others, coverage=coverage, index_seconds=index_seconds)


@dataclass(frozen=True, slots=True)
class _Asker:
    """Asks a set's questions of one searcher."""

    labelled: EvaluationSet
    searcher: Searcher
    mode: SearchMode
    cancel: Cancellation | None

    def ask(self, question: Question, *, floor: bool = True) -> _Asked:
        """The first page of hits, and more until they stand in as many files as are measured."""
        filters = Filters(folders=(question.root,) if question.root else ())
        request = SearchRequest(question.query, limit=PAGE, mode=self.mode, filters=filters)
        if not floor:
            request = replace(request, min_score=-1.0, relative_cutoff=0.0)
        started = time.perf_counter()
        try:
            answer = self.searcher.search(request, cancel=self.cancel)
        except InvalidRequestError as error:
            raise InvalidRequestError(
                f"question {question.id!r}: {error.message}", hint=error.hint, violations=error.violations
            ) from None
        seconds = time.perf_counter() - started
        ranking = self._found(answer.hits)
        scores = [hit.score for hit in answer.hits]
        while answer.next_cursor and len({found.path for found in ranking} - question.ignore) < DEPTH:
            answer = self.searcher.search(replace(request, cursor=answer.next_cursor), cancel=self.cancel)
            ranking += self._found(answer.hits)
            scores += [hit.score for hit in answer.hits]
        return _Asked(question, ranking, scores, seconds)

    def _found(self, hits: Sequence[Hit]) -> list[Found]:
        return [Found(self.labelled.corpus_path(h.folder, h.path), h.start_line, h.end_line) for h in hits]


def _report(
    labelled: EvaluationSet,
    mode: SearchMode,
    asked: Sequence[_Asked],
    unlimited: Sequence[_Asked],
    others: Sequence[_Asked],
    *,
    coverage: Coverage,
    index_seconds: float,
) -> EvalReport:
    times = sorted(one.seconds for one in asked)
    still = [(one.question.kind, _hit(one)) for one, free in zip(asked, unlimited, strict=True) if _hit(free)]
    return EvalReport(
        name=labelled.name,
        mode=mode,
        answered=sum(bool(one.ranking) for one in asked),
        measured=_measures(asked),
        p50=_percentile(times, 0.5),
        p95=_percentile(times, 0.95),
        coverage=coverage,
        index_seconds=index_seconds,
        floor_off=_measures(unlimited),
        kept=_shares(still),
        silent=_shares((one.question.kind, not one.ranking) for one in others),
    )


def _measures(asked: Sequence[_Asked]) -> Measures:
    by_kind: dict[str, list[dict[str, float]]] = {}
    for one in asked:
        by_kind.setdefault(one.question.kind, []).append(_measure(one))
    return Measures(
        Measured(len(asked), mean(m for measured in by_kind.values() for m in measured)),
        {kind: Measured(len(measured), mean(measured)) for kind, measured in sorted(by_kind.items())},
    )


def _measure(one: _Asked) -> dict[str, float]:
    question = one.question
    return measure(one.ranking, question.answers, ignore=question.ignore, stale=question.stale)


def _hit(one: _Asked) -> bool:
    """Whether a relevant file is among the first ten."""
    return _measure(one)["Hit@10"] > 0


def _shares(counted: Iterable[tuple[str, bool]]) -> Mapping[str, Share]:
    """By kind, how many are true."""
    by_kind: dict[str, list[bool]] = {}
    for kind, true in counted:
        by_kind.setdefault(kind, []).append(true)
    return {kind: Share(sum(found), len(found)) for kind, found in sorted(by_kind.items())}


def _percentile(ordered: Sequence[float], share: float) -> float:
    """The nearest-rank percentile of values in ascending order."""
    return ordered[max(0, math.ceil(share * len(ordered)) - 1)]


def _check_own(indexer: Indexer, labelled: EvaluationSet) -> None:
    """Refuse an index that holds something else, which would stand among the answers."""
    status = indexer.status()
    ours = {folder.name for folder in labelled.folders}
    if foreign := sorted(f.folder.name for f in status.folders if f.folder.name not in ours):
        raise InvalidRequestError.of(
            "index_dir", f"{status.index_directory} holds other folders, too ({', '.join(foreign)})", hint=_OWN_INDEX
        )


@contextlib.contextmanager
def _index_directory(settings: Settings, index_dir: Path | None) -> Iterator[Path]:
    if index_dir is None:
        with tempfile.TemporaryDirectory(prefix="everfind-eval-") as temporary:
            yield Path(temporary) / "index"
    elif index_dir.resolve() == settings.index_dir.resolve():
        raise InvalidRequestError.of("index_dir", f"{index_dir} is the index of your own folders", hint=_OWN_INDEX)
    else:
        yield index_dir.resolve()


def _check_output(field: str, path: Path | None) -> None:
    if path is not None and (path.is_dir() or not path.absolute().parent.is_dir()):
        raise InvalidRequestError.of(field, f"{path} is no file that can be written", hint="Make its directory first.")


def _write(path: Path | None, asked: Sequence[_Asked]) -> None:
    if path is None:
        return
    try:
        path.write_text("".join(f"{json.dumps(_result(one))}\n" for one in asked), encoding="utf-8")
    except OSError as error:
        raise StorageError(f"{path} cannot be written: {error.strerror}", hint="Choose another place.") from error


def _result(one: _Asked) -> dict[str, Any]:
    hits = [asdict(found) | {"score": score} for found, score in zip(one.ranking, one.scores, strict=True)]
    return {"id": one.question.id, "results": hits}


def _rounded(measures: Mapping[str, float]) -> dict[str, float]:
    return {name: round(value, 4) for name, value in measures.items()}
