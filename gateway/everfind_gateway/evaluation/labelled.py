"""A labelled retrieval set on disk: ``corpus/``, ``queries.jsonl`` and, if there is one, ``unanswerable.jsonl``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from everfind_core.errors import InvalidRequestError
from everfind_core.files.parsed_json import parse_json
from everfind_core.files.paths import encode_os_path
from everfind_core.model import Folder
from everfind_core.wrong_values import what_is_wrong
from everfind_gateway.evaluation.measures import Answer

CORPUS = "corpus"
QUESTIONS = "queries.jsonl"
UNANSWERABLE = "unanswerable.jsonl"

_HINT = 'A set is corpus/ and queries.jsonl, with lines such as {"id": "1", "query": "…", "relevant": [{"path": "a"}]}.'

LineNumber = Annotated[int, Field(ge=1)]
Text = Annotated[str, Field(min_length=1)]


class Line(BaseModel):
    """A line of a file of questions."""

    model_config = ConfigDict(frozen=True, strict=True)


class _AnswerLine(Line):
    path: Text
    lines: Annotated[list[LineNumber], Field(min_length=2, max_length=2)] | None = None
    grade: Annotated[float, Field(gt=0)] = 1.0


class _UnanswerableLine(Line):
    id: Text
    query: Text
    kind: str = ""
    root: Text | None = None


class _QuestionLine(_UnanswerableLine):
    relevant: Annotated[list[_AnswerLine], Field(min_length=1)]
    ignore: list[str] = []
    stale: list[str] = []


@dataclass(frozen=True, slots=True)
class Question:
    """One question. Paths are relative to ``corpus/``; ``root`` names the one folder to search (empty: all).

    ``answers`` is empty for a question that has none. ``ignore`` and ``stale`` as in
    :func:`everfind_gateway.evaluation.measures.measure`. ``contains`` are words that the first hits must have between
    them.
    """

    id: str
    query: str
    kind: str = ""
    root: str = ""
    answers: tuple[Answer, ...] = ()
    ignore: frozenset[str] = frozenset()
    stale: frozenset[str] = frozenset()
    contains: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class EvaluationSet:
    """A set, read and checked. ``folders`` are to be indexed: each root, and the corpus where a root is missing."""

    name: str
    corpus: Path
    folders: tuple[Folder, ...]
    questions: tuple[Question, ...]
    unanswerable: tuple[Question, ...] = ()

    def corpus_path(self, folder: str, path: str) -> str:
        """A file of a folder, relative to ``corpus/``."""
        return path if folder == self.corpus_folder else f"{folder}/{path}"

    @property
    def corpus_folder(self) -> str:
        """The name of the folder that is the whole corpus; empty if every question has a root."""
        whole = encode_os_path(self.corpus)
        return next((folder.name for folder in self.folders if folder.root == whole), "")


def read_set(directory: Path, *, unanswerable: bool = False) -> EvaluationSet:
    """Read the set in ``directory``; ``unanswerable`` questions only if asked for.

    Raises:
        InvalidRequestError: a part is missing or malformed; the message names file and line.
    """
    corpus = directory / CORPUS
    if not corpus.is_dir():
        raise InvalidRequestError.of("directory", f"{directory} holds no directory {CORPUS}/", hint=_HINT)
    questions = [_question(line) for line in _read_known(directory / QUESTIONS, _QuestionLine, corpus)]
    others = _read_known(directory / UNANSWERABLE, _UnanswerableLine, corpus) if unanswerable else []
    without_answer = [Question(line.id, line.query, line.kind, line.root or "") for line in others]
    resolved = corpus.resolve()
    return EvaluationSet(
        name=directory.resolve().name,
        corpus=resolved,
        folders=_folders(resolved, [*questions, *without_answer]),
        questions=tuple(questions),
        unanswerable=tuple(without_answer),
    )


def _folders(corpus: Path, questions: Sequence[Question]) -> tuple[Folder, ...]:
    roots = sorted({question.root for question in questions if question.root})
    folders = [Folder(root, encode_os_path(corpus / root)) for root in roots]
    if any(not question.root for question in questions):
        name = CORPUS
        while name in roots:
            name += "_"
        folders.append(Folder(name, encode_os_path(corpus)))
    return tuple(folders)


def _question(line: _QuestionLine) -> Question:
    answers = tuple(Answer(a.path, (a.lines[0], a.lines[1]) if a.lines else None, a.grade) for a in line.relevant)
    return Question(
        line.id, line.query, line.kind, line.root or "", answers, frozenset(line.ignore), frozenset(line.stale)
    )


LineT = TypeVar("LineT", bound=Line)
KnownT = TypeVar("KnownT", bound=_UnanswerableLine)


def read_lines(path: Path, shape: type[LineT], hint: str) -> Iterator[tuple[int, LineT]]:
    """The lines of a JSON lines file, blank ones left out, each with its number.

    Raises:
        InvalidRequestError: it cannot be read, a line does not have the ``shape``, or there is none.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        what = error.strerror if isinstance(error, OSError) else "not UTF-8"
        raise InvalidRequestError.of("questions", f"{path} cannot be read: {what}", hint=hint) from None
    lines = [(number, raw) for number, raw in enumerate(text.split("\n"), start=1) if raw.strip()]
    if not lines:
        raise InvalidRequestError.of("questions", f"{path}: it holds no question", hint=hint)
    for number, raw in lines:
        yield number, _parse(raw, shape, f"{path}:{number}", hint)


def _read_known(path: Path, shape: type[KnownT], corpus: Path) -> list[KnownT]:
    """The lines of a set's file, whose ids must differ and whose roots must be there."""
    roots = {entry.name for entry in corpus.iterdir() if entry.is_dir()}
    found: dict[str, KnownT] = {}
    for number, line in read_lines(path, shape, _HINT):
        if line.id in found:
            raise _malformed(f"{path}:{number}", f"the id {line.id!r} stands on a line before, too")
        if line.root is not None and line.root not in roots:
            raise _malformed(f"{path}:{number}", f"the root {line.root!r} is no directory of {CORPUS}/")
        found[line.id] = line
    return list(found.values())


def _parse(raw: str, shape: type[LineT], place: str, hint: str) -> LineT:
    try:
        value = parse_json(raw)
    except ValueError as error:
        raise InvalidRequestError.of("questions", f"{place}: not JSON: {error}", hint=hint) from None
    try:
        return shape.model_validate(value)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"]))
        what = f"{where}: {what_is_wrong(first)}" if where else what_is_wrong(first)
        raise InvalidRequestError.of("questions", f"{place}: {what}", hint=hint) from None


def _malformed(place: str, what: str) -> InvalidRequestError:
    return InvalidRequestError.of("questions", f"{place}: {what}", hint=_HINT)
