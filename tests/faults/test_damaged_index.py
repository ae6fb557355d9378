"""Each file of an index cut short, emptied or changed: no wrong answer goes unnoticed, and a repair mends all."""

from __future__ import annotations

import functools
import random
import shutil
from collections.abc import Callable
from pathlib import Path

import lance
import pytest

from everfind_core.errors import EverfindError, IndexDamagedError
from everfind_core.index import written_files
from everfind_core.index.sqlite_schema import DATABASE
from everfind_core.index.store_backends import StoreChoice
from everfind_core.index.store_schema import TABLE_DIRECTORY
from everfind_core.index.written_files import WRITTEN
from everfind_core.model import Severity
from everfind_indexer.store.integrity import referenced
from tests.support.real_index import RealIndex, write_notes

NOTES = 24


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> RealIndex:
    """An index with several fragments, masks over deleted rows, and structures of several segments."""
    base = tmp_path_factory.mktemp("sound")
    write_notes(base / "corpus", NOTES)
    index = RealIndex(base, base / "corpus", base / "kept")
    index.index()
    for turn in range(3):
        note = base / "corpus" / f"note{turn * 5:02}.md"
        note.write_text(note.read_text() + f"\n## Later\n\nThe zebra of turn {turn}.\n")
        index.index()
    return index


def empty(content: bytes) -> bytes:
    return b""


def half(content: bytes) -> bytes:
    return content[: len(content) // 2]


def zeros(content: bytes) -> bytes:
    """The end never reached the disk, which kept room for it."""
    kept = len(content) // 2
    return content[:kept] + bytes(len(content) - kept)


def flip(content: bytes) -> bytes:
    place = random.Random(len(content)).randrange(len(content))
    return content[:place] + bytes([content[place] ^ 0x10]) + content[place + 1 :]


Damage = Callable[[bytes], bytes]
WAYS: tuple[Damage, ...] = (empty, half, zeros, flip)


def kinds(index: RealIndex) -> list[Path]:
    """One file of each kind that is not the same in all indexes."""
    by_kind = {}
    for path in index.files:
        kind = "/".join(part for part in path.parts if not part[0].isdigit() and len(part) < 30)
        by_kind[kind] = path
    return [by_kind[kind] for kind in sorted(by_kind)]


def tried(look: Callable[[], bool], *, refused: bool) -> bool:
    """What ``look`` sees; ``refused`` where it is an error with a way out."""
    try:
        return look()
    except EverfindError as error:
        return refused and bool(error.hint)


def is_told(index: RealIndex) -> bool:
    findings = index.engine().status(verify=True).findings
    return any(finding.severity is Severity.ERROR for finding in findings if finding.check == "damage")


@functools.cache
def in_use(sound: RealIndex) -> frozenset[Path]:
    """The files of the newest version."""
    (table,) = sound.directory.glob("indexes/*/chunks.lance")
    names = referenced(lance.dataset(str(table)), table)
    return frozenset(table.relative_to(sound.directory) / name for name in names)


def check(sound: RealIndex, base: Path, name: Path, damage: Damage) -> None:
    index = sound.copied(base)
    path = index.directory / name
    content = path.read_bytes()
    path.write_bytes(damage(content))
    unchanged = path.read_bytes() == content
    right = tried(lambda: index.answers() == expected(sound), refused=True)
    noticed = tried(lambda: is_told(index), refused=True)
    assert right or noticed
    if damage in (empty, half):
        assert right, "what is shorter than it was is noticed by a search"
    if name.parts[2:3] == ("chunks.lance",) and name in in_use(sound):
        assert noticed or unchanged
    report = index.repair()
    assert index.found() == found(sound)
    assert index.content() == sound.content()
    status = index.engine().status(verify=True)
    assert status.coverage == sound.engine().status().coverage
    assert [f.message for f in status.findings if f.check == "damage"] == [
        "each byte of the index is as it was written"
    ]
    assert report.chunks_embedded == 0
    if "_indices" in name.parts or name.name in ("current.json", "coverage.json", "calibration.json"):
        assert report.indexed == 0
    again = index.index()
    assert (again.indexed, again.unchanged) == (0, NOTES)


@functools.cache
def expected(sound: RealIndex) -> list[object]:
    return sound.answers()


@functools.cache
def found(sound: RealIndex) -> list[list[tuple[str, int, str]]]:
    return sound.found()


@pytest.mark.slow
@pytest.mark.parametrize("damage", WAYS)
def test_a_damaged_file_of_each_kind_is_noticed_and_mended(sound: RealIndex, tmp_path: Path, damage: Damage) -> None:
    chosen = random.Random(damage.__name__).sample(kinds(sound), 4)
    for number, name in enumerate(chosen):
        check(sound, tmp_path / str(number), name, damage)


@pytest.mark.long
@pytest.mark.parametrize("damage", WAYS)
def test_every_damaged_file_is_noticed_and_mended(sound: RealIndex, tmp_path: Path, damage: Damage) -> None:
    for number, name in enumerate(sound.files):
        check(sound, tmp_path / str(number), name, damage)
        shutil.rmtree(tmp_path / str(number))


@pytest.fixture(scope="module")
def in_sqlite(tmp_path_factory: pytest.TempPathFactory) -> RealIndex:
    """The same in SQLite, with rows that were removed."""
    base = tmp_path_factory.mktemp("sqlite")
    write_notes(base / "corpus", NOTES)
    index = RealIndex(base, base / "corpus", base / "kept", store=StoreChoice.SQLITE)
    index.index()
    (base / "corpus" / "note05.md").write_text("# Later\n\nThe zebra.\n")
    index.index()
    return index


@pytest.mark.slow
@pytest.mark.parametrize("damage", WAYS)
def test_a_damaged_store_in_sqlite_is_noticed_and_mended(in_sqlite: RealIndex, tmp_path: Path, damage: Damage) -> None:
    (name,) = (name for name in in_sqlite.files if name.name == DATABASE)
    check(in_sqlite, tmp_path, name, damage)


@pytest.mark.slow
def test_a_power_cut_is_noticed_by_the_next_search(
    sound: RealIndex, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was written last holds zeros, and has its length: sizes alone do not tell."""
    index = sound.copied(tmp_path)
    table = next(index.directory.glob("indexes/*/chunks.lance"))
    newest = max((table / "data").iterdir(), key=lambda path: path.stat().st_mtime_ns)
    newest.write_bytes(zeros(newest.read_bytes()))
    monkeypatch.setattr(written_files, "boot_id", lambda: "the next start")
    for look in (index.answers, index.index):
        with pytest.raises(IndexDamagedError, match=rf"{newest.name} does not hold what was written") as caught:
            look()
        assert "everfind doctor --repair" in caught.value.hint
    report = index.repair()
    assert any(newest.name in warning for warning in report.warnings)
    assert (report.chunks_embedded, index.content()) == (0, sound.content())
    assert 0 < report.indexed < NOTES
    assert index.found() == found(sound)


@pytest.mark.slow
def test_a_start_of_the_machine_after_which_all_is_well(
    sound: RealIndex, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    index = sound.copied(tmp_path)
    monkeypatch.setattr(written_files, "boot_id", lambda: "the next start")
    assert index.answers() == expected(sound)
    index.index()
    noted = written_files.read_written(next(index.directory.glob(f"indexes/*/{WRITTEN}")).parent)
    assert noted is not None
    assert noted.boot == "the next start"
    assert list(noted.recent()) == []


def check_mended_without_reading(index: RealIndex, sound: RealIndex) -> None:
    """Damage of a search structure alone: told, and mended from the rows that are there."""
    assert is_told(index)
    report = index.repair()
    assert (report.indexed, report.chunks_embedded) == (0, 0)
    assert not is_told(index)
    assert index.found() == found(sound)


@pytest.mark.slow
@pytest.mark.parametrize(
    "kind", ["part_0_invert.lance", "metadata.lance", "page_data.lance", "bitmap_page_lookup.lance"]
)
def test_a_search_structure_that_is_gone_is_noticed_and_mended(sound: RealIndex, tmp_path: Path, kind: str) -> None:
    index = sound.copied(tmp_path)
    (index.directory / min(name for name in in_use(sound) if name.name == kind)).unlink()
    check_mended_without_reading(index, sound)


@pytest.mark.slow
def test_nothing_left_of_the_table_is_a_new_index_without_embedding(sound: RealIndex, tmp_path: Path) -> None:
    index = sound.copied(tmp_path)
    for path in index.directory.glob("indexes/*/chunks.lance/_versions/*"):
        path.write_bytes(b"")
    report = index.repair()
    assert (report.indexed, report.chunks_embedded) == (NOTES, 0)
    assert index.content() == sound.content()
    assert len(list((index.directory / "indexes").iterdir())) == 1


@pytest.mark.slow
def test_an_index_that_nothing_was_noted_of_is_mended_by_reading_it(sound: RealIndex, tmp_path: Path) -> None:
    index = sound.copied(tmp_path)
    for path in index.directory.glob(f"indexes/*/{WRITTEN}"):
        path.unlink()
    oldest = min(index.directory.glob("indexes/*/chunks.lance/data/*"), key=lambda path: path.stat().st_mtime_ns)
    oldest.write_bytes(half(oldest.read_bytes()))
    report = index.repair()
    assert report.chunks_embedded == 0
    assert index.content() == sound.content()
    assert index.found() == found(sound)


@pytest.mark.slow
def test_a_structure_that_was_written_so_is_noticed_and_mended(sound: RealIndex, tmp_path: Path) -> None:
    index = sound.copied(tmp_path)
    name = next(name for name in sorted(in_use(sound)) if name.name == "part_0_invert.lance")
    path = index.directory / name
    path.write_bytes(random.Random(1).randbytes(path.stat().st_size))
    (made,) = index.directory.glob("indexes/*")
    table = made / TABLE_DIRECTORY
    written_files.note_written(made, table, referenced(lance.dataset(str(table)), table), None)
    check_mended_without_reading(index, sound)


@pytest.mark.slow
def test_a_lost_note_of_what_was_written_is_told_and_made_anew(sound: RealIndex, tmp_path: Path) -> None:
    index = sound.copied(tmp_path)
    next(index.directory.glob(f"indexes/*/{WRITTEN}")).unlink()
    [finding] = [f for f in index.engine().status(verify=True).findings if f.check == "damage"]
    assert (finding.severity, WRITTEN in finding.message) == (Severity.ERROR, True)
    assert index.repair().indexed == 0
    assert not is_told(index)
    assert index.found() == found(sound)


@pytest.mark.slow
def test_a_repair_of_a_sound_index_changes_nothing(sound: RealIndex, tmp_path: Path) -> None:
    index = sound.copied(tmp_path)
    before = index.engine().status().generation
    report = index.repair()
    assert (report.indexed, report.unchanged, report.warnings, report.generation) == (0, NOTES, (), before)
