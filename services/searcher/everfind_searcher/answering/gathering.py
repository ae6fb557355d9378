"""Hits with their surroundings, as one Markdown block ready for a context window."""

from __future__ import annotations

from everfind_core.answers.text_form import gather_text, passage_text
from everfind_core.errors import FileNotIndexableError, FolderNotFoundError, FolderUnusableError
from everfind_core.files.paths import printable
from everfind_core.model import GatherAnswer, Hit, Passage, ReadFileRequest, SearchAnswer
from everfind_core.ports import SourceReader


class Gatherer:
    """Puts ``context_lines`` of source around hits, reading each once; a changed file keeps the indexed text."""

    def __init__(self, source: SourceReader, context_lines: int) -> None:
        self._source = source
        self._context_lines = context_lines
        self._read: dict[Hit, Passage] = {}

    def gather(self, answer: SearchAnswer) -> GatherAnswer:
        """The answer with a passage for each hit."""
        passages = tuple(map(self._passage, answer.hits))
        return GatherAnswer(answer, passages, _markdown(answer, passages))

    def hit_text(self, hit: Hit) -> str:
        """What one hit adds to the text of an answer."""
        return passage_text(self._passage(hit), 1, 1)

    def answer_text(self, answer: SearchAnswer) -> str:
        """The text of the whole answer."""
        return gather_text(self.gather(answer))

    def _passage(self, hit: Hit) -> Passage:
        if hit not in self._read:
            self._read[hit] = _passage(hit, self._source, self._context_lines)
        return self._read[hit]


def _passage(hit: Hit, source: SourceReader, context_lines: int) -> Passage:
    stored = Passage(hit, hit.start_line, hit.end_line, hit.text)
    if not context_lines:
        return stored
    start = max(1, hit.start_line - context_lines)
    try:
        read = source.read_file(ReadFileRequest(hit.folder, hit.path, start, hit.end_line + context_lines))
    except (FileNotIndexableError, FolderNotFoundError, FolderUnusableError):
        return Passage(hit, hit.start_line, hit.end_line, hit.text, changed=True)
    if not read.indexed:
        return Passage(hit, hit.start_line, hit.end_line, hit.text, changed=True)
    return Passage(hit, read.start_line, read.end_line, read.text, extracted_from=read.extracted_from)


def _markdown(answer: SearchAnswer, passages: tuple[Passage, ...]) -> str:
    if not passages:
        return f"No relevant results for {printable(answer.query)!r} in {answer.coverage.files:,} files.\n"
    return "\n".join(passage_text(passage, n, len(passages)) for n, passage in enumerate(passages, start=1))
