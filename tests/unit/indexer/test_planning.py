from __future__ import annotations

from dataclasses import replace

import pytest

from everfind_core.model import FileRef, FileState, SkipReason
from everfind_indexer.discovery import FoundFile
from everfind_indexer.planning import CLOCK_GRANULARITY_NS, plan

SECOND = 10**9
FOUND = FoundFile("a", 100, 50 * SECOND, 60 * SECOND, 7)
KNOWN = FileState(FileRef("f", "a"), 100, 50 * SECOND, 60 * SECOND, 7, 90 * SECOND, "hash", 3)


def test_a_file_that_did_not_change_is_not_read() -> None:
    found = plan([FOUND], {"a": KNOWN})
    assert (found.read, found.unchanged, found.gone) == ((), 1, ())
    left_out = replace(KNOWN, skip=SkipReason.BINARY)
    assert plan([FOUND], {"a": left_out}).unchanged == 0


@pytest.mark.parametrize(
    "changed",
    [
        FOUND._replace(size=101),
        FOUND._replace(mtime_ns=FOUND.mtime_ns - 1),
        FOUND._replace(mtime_ns=FOUND.mtime_ns + 1),
        FOUND._replace(ctime_ns=FOUND.ctime_ns + 1),
        FOUND._replace(inode=8),
    ],
)
def test_any_sign_of_change_has_it_read(changed: FoundFile) -> None:
    assert plan([changed], {"a": KNOWN}).read == (changed,)


def test_a_file_that_was_young_when_looked_at_is_read_once_more() -> None:
    young = replace(KNOWN, checked_ns=FOUND.ctime_ns + CLOCK_GRANULARITY_NS)
    assert plan([FOUND], {"a": young}).read == (FOUND,)
    assert plan([FOUND], {"a": replace(young, checked_ns=young.checked_ns + 1)}).read == ()


@pytest.mark.parametrize("reason", [SkipReason.UNREADABLE, SkipReason.EXTRACTION_FAILED])
def test_what_may_pass_is_tried_in_every_run(reason: SkipReason) -> None:
    assert plan([FOUND], {"a": replace(KNOWN, skip=reason)}).read == (FOUND,)
    assert plan([FOUND], {"a": replace(KNOWN, skip=SkipReason.BINARY)}).read == ()


def test_new_gone_and_forced() -> None:
    other = FOUND._replace(path="b")
    found = plan([other], {"a": KNOWN})
    assert (found.read, found.gone) == ((other,), (KNOWN,))
    assert plan([FOUND], {"a": KNOWN}, force=True).read == (FOUND,)
