from __future__ import annotations

import sqlite3
import subprocess
import sys
import threading
import time
from contextlib import closing
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from everfind_indexer.index import vectors as module
from everfind_indexer.index.vectors import FILE, VectorCache
from everfind_indexer.running.preparing import embedding_key
from everfind_indexer.settings import KeptVectors

DIMENSIONS = 16
DAY = 86_400.0


def made(text: str, dimensions: int = DIMENSIONS) -> npt.NDArray[np.float32]:
    seed = int(embedding_key(text)[:8], 16)
    return np.random.default_rng(seed).normal(size=dimensions).astype(np.float32)


def some(*texts: str) -> dict[str, npt.NDArray[np.floating]]:
    return {embedding_key(text): made(text) for text in texts}


def keys(*texts: str) -> list[str]:
    return [embedding_key(text) for text in texts]


@pytest.fixture
def kept(tmp_path: Path) -> KeptVectors:
    return KeptVectors(tmp_path / "cache" / "vectors")


def opened(kept: KeptVectors, model: str = "m@1", dimensions: int = DIMENSIONS) -> closing[VectorCache]:
    return closing(VectorCache(kept, model, dimensions))


def test_a_kept_vector_has_the_bits_that_the_store_would_hold(kept: KeptVectors) -> None:
    with opened(kept) as cache:
        cache.put(some("one", "two"))
    with opened(kept) as cache:
        found = cache.get(keys("one", "two", "three"))
    assert found.keys() == set(keys("one", "two"))
    for text in ("one", "two"):
        vector = found[embedding_key(text)]
        assert vector.dtype == np.float16
        assert vector.tobytes() == made(text).astype(np.float16).tobytes()
    assert cache.warnings == []


def test_models_do_not_share_vectors(kept: KeptVectors) -> None:
    with opened(kept) as cache:
        cache.put(some("one"))
    with opened(kept, "m@2") as cache:
        assert cache.get(keys("one")) == {}


def test_only_its_user_can_read_the_file(kept: KeptVectors) -> None:
    with opened(kept) as cache:
        cache.put(some("one"))
    assert (kept.directory / FILE).stat().st_mode & 0o777 == 0o600
    assert kept.directory.stat().st_mode & 0o777 == 0o700


def test_forgotten_vectors_leave_no_trace(kept: KeptVectors) -> None:
    with opened(kept) as cache:
        cache.put(some("one", "two"))
        cache.forget(keys("one"))
        assert cache.get(keys("one", "two")).keys() == set(keys("two"))
    content = b"".join(path.read_bytes() for path in kept.directory.iterdir())
    assert made("one").astype("<f2").tobytes() not in content
    assert made("two").astype("<f2").tobytes() in content


def test_what_was_not_used_for_long_goes(kept: KeptVectors, monkeypatch: pytest.MonkeyPatch) -> None:
    now = 1_700_000_000.0
    monkeypatch.setattr(time, "time", lambda: now)
    with opened(kept) as cache:
        cache.put(some("old", "found", "renewed"))
        now += 10 * DAY
        cache.get(keys("found"))
        cache.renew(keys("renewed", "not kept"))
        now += kept.days * DAY * (1 + module.RENEWED_SHARE) - 10 * DAY + 1
        cache.tidy()
        assert cache.get(keys("old", "found", "renewed")).keys() == set(keys("found", "renewed"))


def test_the_oldest_go_beyond_the_limit_of_bytes(kept: KeptVectors, monkeypatch: pytest.MonkeyPatch) -> None:
    now = 1_700_000_000.0
    monkeypatch.setattr(time, "time", lambda: now)
    small = KeptVectors(kept.directory, max_bytes=400_000)
    old, new = [f"old {n}" for n in range(500)], [f"new {n}" for n in range(100)]
    with opened(small, dimensions=384) as cache:
        cache.put({embedding_key(text): made(text, 384) for text in old})
        now += 1
        cache.put({embedding_key(text): made(text, 384) for text in new})
        cache.tidy()
        assert len(cache.get(keys(*new))) == 100
        left = len(cache.get(keys(*old)))
        assert 100 < left < 350
        for n in range(20):
            cache.put({embedding_key(f"{n} {m}"): made(f"{n} {m}", 384) for m in range(100)})
            cache.tidy()
    assert (small.directory / FILE).stat().st_size < 1.2 * small.max_bytes


@pytest.mark.parametrize("fault", ["noise", "truncated", "text", "other tables", "directory"])
def test_a_damaged_file_is_dropped_and_said(kept: KeptVectors, fault: str) -> None:
    with opened(kept) as cache:
        cache.put(some(*(f"text {n}" for n in range(200))))
    file = kept.directory / FILE
    for suffix in ("-wal", "-shm"):
        file.with_name(file.name + suffix).unlink(missing_ok=True)
    data = file.read_bytes()
    if fault == "noise":
        file.write_bytes(data[:4096] + np.random.default_rng(1).bytes(len(data) - 4096))
    elif fault == "truncated":
        file.write_bytes(data[: len(data) // 2 // 4096 * 4096])
    elif fault == "text":
        file.write_text("no database at all, " * 100)
    elif fault == "other tables":
        file.unlink()
        with closing(sqlite3.connect(file)) as db:
            db.execute("CREATE TABLE entries (a)")
    else:
        file.unlink()
        file.mkdir()
    with opened(kept) as cache:
        for n in range(200):
            for key, vector in cache.get(keys(f"text {n}")).items():
                assert vector.tobytes() == made(f"text {n}").astype(np.float16).tobytes(), key
        cache.put(some("new"))
        cache.tidy()
        assert len(cache.warnings) >= 1
        assert str(kept.directory) in cache.warnings[0]
    if fault != "directory":
        with opened(kept) as cache:
            assert len(cache.get(keys("new"))) == 1
            assert cache.warnings == []


def test_a_vector_under_anothers_name_or_with_a_flipped_bit_is_not_used(kept: KeptVectors) -> None:
    with opened(kept) as cache:
        cache.put(some("one", "two", "three"))
    with closing(sqlite3.connect(kept.directory / FILE)) as db:
        rows = db.execute("SELECT id, data FROM vectors ORDER BY id").fetchall()
        (first, a), (second, b), (third, c) = rows
        flipped = c[:20] + bytes([c[20] ^ 1]) + c[21:]
        db.executemany("UPDATE vectors SET data = ? WHERE id = ?", [(b, first), (a, second), (flipped, third)])
        db.commit()
    with opened(kept) as cache:
        assert cache.get(keys("one", "two", "three")) == {}
        assert cache.warnings == ["3 of the vectors kept for reuse were damaged and are dropped"]
        cache.put(some("one"))
        assert len(cache.get(keys("one"))) == 1


def test_an_unwritable_place_is_said_once_and_costs_only_the_saving(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with opened(KeptVectors(tmp_path / "file" / "vectors")) as cache:
        cache.put(some("one"))
        assert cache.get(keys("one")) == {}
        cache.tidy()
    assert len(cache.warnings) == 1


WRITER = """
import sys
from pathlib import Path
sys.path.insert(0, sys.argv[3])
from test_vectors import DIMENSIONS, keys, some
from everfind_indexer.settings import KeptVectors
from everfind_indexer.index.vectors import VectorCache
cache = VectorCache(KeptVectors(Path(sys.argv[1])), "m@1", DIMENSIONS)
for n in range(60):
    texts = [f"{sys.argv[2]} {n} {m}" for m in range(20)] + [f"shared {n}"]
    cache.put(some(*texts))
    assert len(cache.get(keys(*texts))) == 21
assert cache.warnings == [], cache.warnings
cache.close()
"""


def test_processes_write_and_read_side_by_side(kept: KeptVectors) -> None:
    arguments = [str(kept.directory)]
    writers = [
        subprocess.Popen([sys.executable, "-c", WRITER, *arguments, name, str(Path(__file__).parent)])
        for name in ("first", "second", "third")
    ]
    with opened(kept) as cache:
        while any(writer.poll() is None for writer in writers):
            for key, vector in cache.get(keys(*(f"shared {n}" for n in range(60)))).items():
                assert vector.shape == (DIMENSIONS,), key
            threading.Event().wait(0.02)
        assert [writer.returncode for writer in writers] == [0, 0, 0]
        assert len(cache.get(keys(*(f"shared {n}" for n in range(60))))) == 60
        assert len(cache.get(keys(*(f"second {n} {m}" for n in range(60) for m in range(20))))) == 1_200
