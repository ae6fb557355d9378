"""Reading files of the corpus: their text, and lines that match."""

from __future__ import annotations

from dataclasses import dataclass

from everfind_core.model.files import FileRef


@dataclass(frozen=True, slots=True)
class ReadFileRequest:
    """Read lines of an indexable file. Lines count from 1, both ends included; ``end_line`` 0 means the last."""

    folder: str
    path: str
    start_line: int = 1
    end_line: int = 0
    workspace: str = ""


@dataclass(frozen=True, slots=True)
class FileText:
    """Lines of a file, secrets masked. ``indexed`` says whether these bytes are the ones the index holds.

    ``extracted_from`` names the format (``pdf``, ``docx``) where the lines are those of extracted text.
    """

    ref: FileRef
    absolute_path: str
    start_line: int
    end_line: int
    total_lines: int
    text: str
    truncated: bool = False
    indexed: bool = True
    redactions: int = 0
    extracted_from: str = ""


@dataclass(frozen=True, slots=True)
class GrepRequest:
    """Search exactly the indexable files line by line.

    ``pattern`` is literal unless ``regex``; ``folders`` empty means all; ``globs`` are path globs, empty means all.
    ``seconds`` bounds the whole call.
    """

    pattern: str
    regex: bool = False
    case_sensitive: bool = True
    folders: tuple[str, ...] = ()
    globs: tuple[str, ...] = ()
    max_results: int = 100
    seconds: float = 10.0
    workspace: str = ""


@dataclass(frozen=True, slots=True)
class GrepMatch:
    """One matching line: number from 1, and the line's text (masked, cut around the match when very long).

    ``page`` counts from 1 where the file has pages. ``extracted_from`` as in :class:`FileText`.
    """

    ref: FileRef
    absolute_path: str
    line: int
    text: str
    page: int = 0
    extracted_from: str = ""


@dataclass(frozen=True, slots=True)
class GrepAnswer:
    """All matches found, ordered by folder, path and line. ``truncated`` says why it is not all of them, if so."""

    matches: tuple[GrepMatch, ...]
    files_searched: int
    truncated: str = ""
