"""Reading the file that a caller means, by its place as a search prints it or by a path."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from everfind_core.errors import FileNotIndexableError
from everfind_core.model import ReadFileRequest
from everfind_gateway.places import place_in
from everfind_gateway.target_requests import file_reference

if TYPE_CHECKING:
    from everfind_core.model import FileText, Folder
    from everfind_core.ports import SourceReader


def read_lines(
    reader: SourceReader, folders: Sequence[Folder], target: str, start_line: int = 0, end_line: int = 0
) -> FileText:
    """The lines of ``target``, from 1; where none are given, those that it names itself, as ``FILE:42``, else all.

    Raises:
        FileNotIndexableError: it is no file that the index would take.
    """

    def read(name: str, start: int, end: int) -> FileText:
        file = file_reference(folders, name)
        return reader.read_file(ReadFileRequest(file.folder, file.path, start, end))

    if start_line or end_line:
        return read(target, start_line or 1, end_line)
    try:
        return read(target, 1, 0)  # a file may have such a name
    except FileNotIndexableError:
        place = place_in(target)
        if place is None:
            raise
        return read(place.path, place.start, place.end)
