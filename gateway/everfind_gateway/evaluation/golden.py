"""A user's own questions about their own folders: JSON lines that can live in a project.

``{"query": "…", "relevant": ["docs/auth.md", "src/session.py:10-40"], "contains": ["ERR_EXPIRED"], "kind": "…"}``.
A place is ``FOLDER/PATH`` or a path from the file's own directory, with a line or a range of lines if wanted. With an
empty ``relevant`` the question is expected to be met with silence.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from pydantic import Field

from everfind_core.errors import EverfindError, InvalidRequestError
from everfind_core.files.paths import decode_os_path
from everfind_core.model import Folder
from everfind_gateway.evaluation.labelled import EvaluationSet, Line, Question, Text, read_lines
from everfind_gateway.evaluation.measures import Answer
from everfind_gateway.places import place_in
from everfind_gateway.target_requests import file_reference

_HINT = 'A line is such as {"query": "…", "relevant": ["docs/auth.md:10-40"], "contains": ["a word"], "kind": "…"}.'


class _GoldenLine(Line):
    query: Text
    id: str = ""
    kind: str = ""
    relevant: list[Text] | None = None
    contains: Annotated[list[Text], Field(default_factory=list)]


def read_golden(file: Path, folders: Sequence[Folder], *, here: bool) -> EvaluationSet:
    """The questions in ``file`` about ``folders``; ``here``: they are on this machine, so that places can be checked.

    Raises:
        InvalidRequestError: a line is malformed or names what is not there; the message names file and line.
    """
    placed = EvaluationSet(file.stem, file.parent.resolve(), tuple(folders), ())
    questions: dict[str, Question] = {}
    silent: dict[str, Question] = {}
    for number, line in read_lines(file, _GoldenLine, _HINT):
        where = f"{file}:{number}"
        if line.relevant is None and not line.contains:
            raise InvalidRequestError.of("questions", f"{where}: it has neither relevant nor contains", hint=_HINT)
        name = line.id or str(number)
        if name in questions or name in silent:
            raise InvalidRequestError.of(
                "questions", f"{where}: the id {name!r} stands on a line before, too", hint=_HINT
            )
        answers = tuple(_answer(place, placed, where, here=here) for place in line.relevant or ())
        question = Question(name, line.query, line.kind, answers=answers, contains=tuple(line.contains))
        (questions if answers or line.contains else silent)[name] = question
    return EvaluationSet(placed.name, placed.corpus, placed.folders, tuple(questions.values()), tuple(silent.values()))


def _answer(place: str, placed: EvaluationSet, where: str, *, here: bool) -> Answer:
    """The answer that a place is; a path that is there as it stands is no path with lines."""
    found = place_in(place)
    whole = _resolved(place, placed, here=here)
    if whole is not None or found is None:
        if whole is None:
            raise _missing(place, where)
        return Answer(whole)
    path = _resolved(found.path, placed, here=here)
    if path is None:
        raise _missing(found.path, where)
    start, end = found.start, found.end or found.start
    if not 1 <= start <= end:
        raise InvalidRequestError.of("questions", f"{where}: {place!r} is no range of lines", hint=_HINT)
    return Answer(path, (start, end))


def _resolved(place: str, placed: EvaluationSet, *, here: bool) -> str | None:
    """The file's path as the set names files; None if there is no such file."""
    known = place.partition("/")[0] in {folder.name for folder in placed.folders}
    if not here:  # the server has the files; what it does not have is just not found
        return place if known and not place_in(place) else None
    for target in ([place] if known else []) + [str(placed.corpus / place)]:
        try:
            file = file_reference(placed.folders, target)
        except EverfindError:
            continue
        root = next(folder.root for folder in placed.folders if folder.name == file.folder)
        if Path(decode_os_path(f"{root}/{file.path}")).is_file():
            return placed.corpus_path(file.folder, file.path)
    return None


def _missing(place: str, where: str) -> InvalidRequestError:
    return InvalidRequestError.of(
        "questions",
        f"{where}: {place!r} is no file of an added folder",
        hint="Write FOLDER/PATH, or a path from the file's own directory.",
    )
