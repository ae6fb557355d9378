"""Documents that were read lately, so that a gather or a grep does not read the same PDF for each of its hits."""

from __future__ import annotations

import threading
from collections import OrderedDict

from everfind_core.model import Document
from everfind_core.ports import NotExtractedError

MOST_CHARACTERS = 10_000_000

Outcome = Document | NotExtractedError
"""What came of reading a document; that it cannot be read is worth remembering, too."""


class RecentDocuments:
    """Outcomes by the file's extension and content hash, the latest used ones. Thread-safe."""

    def __init__(self, most_characters: int = MOST_CHARACTERS) -> None:
        self._most = most_characters
        self._characters = 0
        self._kept: OrderedDict[tuple[str, str], Outcome] = OrderedDict()
        self._guard = threading.Lock()

    def get(self, extension: str, content_hash: str) -> Document | None:
        """The document; None if it is not known.

        Raises:
            NotExtractedError: it is known that there is none.
        """
        key = (extension, content_hash)
        with self._guard:
            found = self._kept.get(key)
            if found is not None:
                self._kept.move_to_end(key)
        if isinstance(found, NotExtractedError):
            raise NotExtractedError(found.reason, found.message)
        return found

    def keep(self, extension: str, content_hash: str, outcome: Outcome) -> None:
        """Remember an outcome; the ones not used for longest go."""
        with self._guard:
            if (extension, content_hash) in self._kept:
                return
            self._kept[extension, content_hash] = outcome
            self._characters += _size(outcome)
            while self._characters > self._most:
                self._characters -= _size(self._kept.popitem(last=False)[1])


def _size(outcome: Outcome) -> int:
    return 1_000 + (len(outcome.text) if isinstance(outcome, Document) else 0)
