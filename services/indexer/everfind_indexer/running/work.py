"""What a run has to do in one folder."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from everfind_core.model import FileRef, FileState, IndexPhase, IndexProgress, SkippedFile
from everfind_indexer.files.found import FoundFile
from everfind_indexer.running.looking import Looker
from everfind_indexer.running.planning import same_stamps
from everfind_indexer.running.preparing import PreparedFile
from everfind_indexer.running.tally import FirstTally, Tally

GROUP_FILES = 32
GROUP_CHARACTERS = 100_000
"""About a batch's: the embedder has the next one before it is done with this one."""

FIRST_CHARACTERS = 24_000
"""Of the first group, so that embedding begins at once; the next may be ``GROWTH`` times as large."""

GROWTH = 4


@dataclass(slots=True)
class FolderWork:
    """A folder as it was found: ``files`` to look at, what is ``gone`` and what was ``skipped``."""

    looker: Looker
    files: list[FoundFile]
    tally: Tally
    gone: Sequence[FileState]
    skipped: Sequence[SkippedFile]
    below: tuple[str, ...]
    first: FirstTally = field(init=False)

    def __post_init__(self) -> None:
        self.first = FirstTally(self.tally.folder, 0)

    @property
    def waiting(self) -> list[FoundFile]:
        """Files of which the index has nothing, or not all vectors."""
        known = self.looker.known
        return [file for file in self.files if file.path not in known or known[file.path].unembedded > 0]

    @property
    def has_words(self) -> bool:
        """Whether every file is found by its words as it is now, though an earlier run gave it no vectors yet."""
        known = self.looker.known
        return all(file.path in known and same_stamps(file, known[file.path]) for file in self.files)

    def skip_words(self) -> IndexProgress:
        """Begin with the vectors; how far the folder is without them."""
        self.tally.phase = IndexPhase.VECTORS
        waiting = self.waiting
        chunks = sum(self.looker.known[file.path].chunks for file in waiting)
        return FirstTally(self.tally.folder, len(waiting), len(waiting), chunks).progress()

    def ref(self, file: FoundFile) -> FileRef:
        """The file's identity."""
        return FileRef(self.tally.folder, file.path)

    def begin(self) -> None:
        """The first pass begins."""
        from everfind_indexer.running.embedding_order import by_likely_need  # loads ranking, which few runs need

        self.files = by_likely_need(self.files)
        new = sum(file.path not in self.looker.known for file in self.files)
        self.first = FirstTally(self.tally.folder, new)
        self.tally.phase = IndexPhase.WORDS

    def end(self, backlog: Container[FileRef]) -> None:
        """The first pass is over: what it took in whole is done."""
        self.files = [file for file in self.files if file.path in self.looker.known or self.ref(file) in backlog]
        self.tally.phase = IndexPhase.VECTORS


def in_groups(files: Iterable[PreparedFile]) -> Iterator[list[PreparedFile]]:
    """Small groups of files, so that one look-up serves several."""
    group: list[PreparedFile] = []
    characters, most = 0, FIRST_CHARACTERS
    for file in files:
        group.append(file)
        characters += sum(len(row.text) for row in file.rows)
        if len(group) >= GROUP_FILES or characters >= most:
            yield group
            group, characters, most = [], 0, min(GROWTH * most, GROUP_CHARACTERS)
    if group:
        yield group
