from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from everfind_core.model import FileRef, FileState, SkipReason
from everfind_indexer.discovery import FoundFile
from everfind_indexer.running.planning import CLOCK_GRANULARITY_NS, outermost, plan

SECOND = 10**9
FOUND = FoundFile("a", 100, 50 * SECOND, 60 * SECOND, 7)
KNOWN = FileState(FileRef("f", "a"), 100, 50 * SECOND, 60 * SECOND, 7, 90 * SECOND, "hash", 3)


def test_a_file_that_did_not_change_is_not_read() -> None:
    found = plan([FOUND], [KNOWN])
    assert (found.read, found.unchanged, found.gone) == ((), 1, ())
    left_out = replace(KNOWN, skip=SkipReason.BINARY)
    assert plan([FOUND], [left_out]).unchanged == 0


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
    assert plan([changed], [KNOWN]).read == (changed,)


def test_a_file_that_was_young_when_looked_at_is_read_once_more() -> None:
    young = replace(KNOWN, checked_ns=FOUND.ctime_ns + CLOCK_GRANULARITY_NS)
    assert plan([FOUND], [young]).read == (FOUND,)
    assert plan([FOUND], [replace(young, checked_ns=young.checked_ns + 1)]).read == ()


@pytest.mark.parametrize("reason", [SkipReason.UNREADABLE, SkipReason.EXTRACTION_FAILED])
def test_what_may_pass_is_tried_in_every_run(reason: SkipReason) -> None:
    assert plan([FOUND], [replace(KNOWN, skip=reason)]).read == (FOUND,)
    assert plan([FOUND], [replace(KNOWN, skip=SkipReason.BINARY)]).read == ()


def test_what_is_looked_at_again_holds_up_no_change() -> None:
    failed = replace(KNOWN, skip=SkipReason.EXTRACTION_FAILED)
    names = ("failed", "changed", "waiting", "new")
    files = [FOUND._replace(path=f"{place}{name}") for place, name in enumerate(names)]
    known = [
        replace(failed, ref=FileRef("f", "0failed")),
        replace(KNOWN, ref=FileRef("f", "1changed"), size=5),
        replace(KNOWN, ref=FileRef("f", "2waiting"), unembedded=1),
    ]
    found = plan(files, known)
    assert [file.path for file in found.first(3)] == ["1changed", "2waiting", "3new"]
    assert [file.path for file in found.first(9)] == ["1changed", "2waiting", "3new", "0failed"]
    assert found.first(0) == ()


def test_new_gone_and_forced() -> None:
    other = FOUND._replace(path="b")
    found = plan([other], [KNOWN])
    assert (found.read, found.gone) == ((other,), (KNOWN,))
    assert plan([FOUND], [KNOWN], force=True).read == (FOUND,)


STATES = st.dictionaries(st.sampled_from(["a", "a.txt", "a/b", "b", "A", "ü", "\U0001f600", "\uffff"]), st.booleans())


@given(STATES, STATES)
def test_one_pass_finds_what_comparing_each_name_does(here: dict[str, bool], known: dict[str, bool]) -> None:
    found = sorted(FOUND._replace(path=path, size=100 + changed) for path, changed in here.items())
    states = [replace(KNOWN, ref=FileRef("f", path), size=100 + odd) for path, odd in sorted(known.items())]
    made = plan(found, states)
    assert [file.path for file in made.read] == [f.path for f in found if known.get(f.path) != here[f.path]]
    assert set(made.known) == {path for path in here if path in known and known[path] != here[path]}
    assert [state.ref.path for state in made.gone] == sorted(known.keys() - here.keys())
    assert made.unchanged == sum(known.get(path) == changed for path, changed in here.items())


def test_paths_below_others_are_named_once() -> None:
    assert outermost(["a/b", "a", "a.txt", "a", "a/c/d", "b/c", "b/cc", "b/c/d"]) == ("a.txt", "a", "b/c", "b/cc")
    assert outermost([]) == ()
