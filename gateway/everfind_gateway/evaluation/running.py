"""``everfind eval``: measure retrieval on a labelled set, through the same ports as every search."""

from __future__ import annotations

import contextlib
import json
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from everfind_core.cancellation import Cancellation
from everfind_core.errors import InvalidRequestError, StorageError
from everfind_core.model import IndexRequest, SearchMode
from everfind_core.ports import EventSink, Indexer
from everfind_gateway.config.settings import Settings
from everfind_gateway.evaluation.asking import AnsweredQuestion, Asker
from everfind_gateway.evaluation.golden import read_golden
from everfind_gateway.evaluation.labelled import UNANSWERABLE, EvaluationSet, read_set
from everfind_gateway.evaluation.report import EvalReport, make_report
from everfind_gateway.requests import searchable_folders
from everfind_gateway.wiring.workspace import OpenWorkspace, Workspace, open_workspace

_OWN_INDEX = "Give a directory that serves this set alone, or none for a throw-away index."


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
            return _measured(_Asking(labelled, mode, results, unanswerable), workspace, index_seconds, cancel)


def run_golden(
    file: Path,
    *,
    settings: Settings,
    mode: SearchMode = SearchMode.HYBRID,
    results: Path | None = None,
    open_workspace: OpenWorkspace = open_workspace,
    cancel: Cancellation | None = None,
) -> EvalReport:
    """Ask the questions in ``file`` of the index as it is, and measure the answers.

    Raises:
        InvalidRequestError: the file is malformed, or names a file that is not there.
        StorageError: an output file cannot be written.
        EverfindError: what searching raises.
    """
    _check_output("results", results)
    labelled = read_golden(file, searchable_folders(settings), here=not settings.server)
    with open_workspace(settings) as workspace:
        return _measured(_Asking(labelled, mode, results), workspace, 0.0, cancel)


@dataclass(frozen=True, slots=True)
class _Asking:
    """What is asked how, and where the hits are written."""

    labelled: EvaluationSet
    mode: SearchMode
    results: Path | None = None
    unanswerable: Path | None = None


def _measured(asking: _Asking, workspace: Workspace, index_seconds: float, cancel: Cancellation | None) -> EvalReport:
    labelled, mode = asking.labelled, asking.mode
    asker = Asker(labelled, workspace.searcher, mode, cancel)
    asker.ask((*labelled.questions, *labelled.unanswerable)[0])  # it loads the model and opens the index: not timed
    asked = [asker.ask(question) for question in labelled.questions]
    unlimited = [asker.ask(question, floor=False) for question in labelled.questions]
    others = [asker.ask(question) for question in labelled.unanswerable]
    coverage = workspace.indexer.status().coverage
    _write(asking.results, asked)
    _write(asking.unanswerable, others)
    return make_report(labelled, mode, asked, unlimited, others, coverage=coverage, index_seconds=index_seconds)


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


def _write(path: Path | None, asked: Sequence[AnsweredQuestion]) -> None:
    if path is None:
        return
    try:
        path.write_text("".join(f"{json.dumps(_result(one))}\n" for one in asked), encoding="utf-8")
    except OSError as error:
        raise StorageError(f"{path} cannot be written: {error.strerror}", hint="Choose another place.") from error


def _result(one: AnsweredQuestion) -> dict[str, Any]:
    hits = [asdict(found) | {"score": score} for found, score in zip(one.ranking, one.scores, strict=True)]
    return {"id": one.question.id, "results": hits}
