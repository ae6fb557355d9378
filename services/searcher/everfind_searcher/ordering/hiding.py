"""What a search leaves out unless it is asked for: documents by their status, files by their path. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from everfind_core.files.globs import compile_file_globs
from everfind_core.lifecycle import shown_successors, split_refs
from everfind_core.model import FileRef, Filters, Hidden
from everfind_core.ports import StoredChunk
from everfind_searcher.ordering.ranking import Ranked

DEFAULT_EXCLUDE = "default_exclude"


@dataclass(frozen=True, slots=True)
class Hiding:
    """The rules that hide something from one search; none does where all was asked for."""

    statuses: frozenset[str]
    excluded: Callable[[FileRef], bool]
    exclude: tuple[str, ...] = ()

    @classmethod
    def of(cls, asked: Filters, *, statuses: Sequence[str], exclude: Sequence[str]) -> Hiding:
        """The rules for a search. One that names statuses means them, whatever they hide otherwise."""
        if asked.all_statuses:
            return cls(frozenset(), lambda _: False)
        globs = compile_file_globs(exclude, field=DEFAULT_EXCLUDE)
        hidden = frozenset() if asked.statuses else frozenset(statuses)
        return cls(hidden, globs.matches if globs else lambda _: False, tuple(exclude))

    def visible(self, asked: Filters) -> Filters:
        """The filters that leave out what the rules hide."""
        return replace(
            asked,
            exclude=(*asked.exclude, *self.exclude),
            exclude_statuses=(*asked.exclude_statuses, *sorted(self.statuses)),
        )

    def rule(self, chunk: StoredChunk) -> str:
        """The rule that hides a chunk: its status, or ``default_exclude``; empty if none does."""
        if chunk.status in self.statuses:
            return chunk.status
        return DEFAULT_EXCLUDE if self.excluded(chunk.ref) else ""

    def hides_any(self, chunks: Sequence[StoredChunk]) -> bool:
        """Whether a rule hides one of these."""
        if not self.statuses.isdisjoint({chunk.status for chunk in chunks}):
            return True
        return bool(self.exclude) and any(map(self.excluded, {chunk.ref for chunk in chunks}))

    def report(self, everything: Sequence[Ranked], length: int) -> Hidden:
        """What is hidden among the first ``length`` hits that there would be if nothing were; files, not chunks."""
        rules: dict[FileRef, str] = {}
        for one in everything[:length]:
            if rule := self.rule(one.chunk):
                rules.setdefault(one.chunk.ref, rule)
        best = next(iter(rules), FileRef("", ""))
        return Hidden(len(rules), dict(Counter(rules.values())), best.path, best.folder)


def replaced_best(everything: Sequence[Ranked], hiding: Hiding, folders: Sequence[str]) -> str:
    """A sentence where the best match of all is hidden and others replace it; empty otherwise.

    ``folders`` are those that may be spoken of; empty is all.
    """
    old = everything[0].chunk if everything else None
    if old is None or not hiding.rule(old):
        return ""
    successors = [ref for ref in split_refs(old.successor) if not folders or ref.folder in folders]
    if not successors:
        return ""
    by = shown_successors(old.ref.folder, successors)
    return f"the best match, {old.ref.path}, is {old.status}; {by} replaces it"
