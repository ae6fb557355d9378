"""Text for terminals and pipes."""

from __future__ import annotations

import io
import re
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from everfind_core.files.paths import encode_os_path
from everfind_core.model import (
    Abstention,
    Coverage,
    FileProcessed,
    FileRef,
    Hidden,
    IndexPhase,
    IndexProgress,
    LexicalRank,
    Provenance,
    ProvenanceLabel,
    RelatedAnswer,
    Relation,
    SearchAnswer,
    SemanticRank,
    Staleness,
)
from everfind_core.text.numbers import by_reason, count, duration, size
from everfind_gateway.config.suggestions import did_you_mean
from everfind_gateway.render import runs
from everfind_gateway.render.hits import around_match, preview, remarks, show_answer, term_pattern
from everfind_gateway.render.links import file_url
from everfind_gateway.render.related import remarks as related_remarks
from everfind_gateway.render.streams import OutputClosedError, emit, emit_json, harmless, note, one_line
from tests.support.gateway import make_hit

ANSWER = SearchAnswer("refresh token", 1, (make_hit(), make_hit("b/" * 60 + "long.py")), Coverage(2, 3))
ESCAPE = re.compile(r"\x1b\[[0-9;]*m")


class Terminal(io.StringIO):
    """A terminal of any encoding."""

    def __init__(self, encoding: str = "utf-8") -> None:
        super().__init__()
        self._encoding = encoding

    @property
    def encoding(self) -> str:  # type: ignore[override]  # StringIO has none
        return self._encoding

    def isatty(self) -> bool:
        return True


def shown(monkeypatch: pytest.MonkeyPatch, width: int, **environment: str) -> str:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stdout", terminal)
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("COLUMNS", str(width))
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    show_answer(ANSWER)
    return terminal.getvalue()


@pytest.mark.parametrize("width", [40, 80, 200])
def test_the_table_fits_the_terminal(monkeypatch: pytest.MonkeyPatch, width: int) -> None:
    lines = ESCAPE.sub("", shown(monkeypatch, width)).splitlines()
    assert max(map(len, lines)) <= width
    assert lines[0].split() == ["score", "match", "path:line"]
    assert any("[both 0.712]" in line for line in lines)
    assert "0.0328" in lines[1]


def test_query_words_are_highlighted_unless_no_color(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "\x1b[1;33mrefresh\x1b[0m" in shown(monkeypatch, 100)
    assert "33m" not in shown(monkeypatch, 100, NO_COLOR="1")


def test_remarks() -> None:
    answer = SearchAnswer(
        "q", 1, (), Coverage(1, 2, {"too_large": 1}), Abstention(0.41, 0.55), Hidden(1, {"superseded": 1}, "old.md"),
        Staleness(True, 1), ("careful",),
    )  # fmt: skip
    assert remarks(answer) == [
        "no relevant results (best 0.41, threshold 0.55): searched 1 file, 2 chunks; left out: 1 too large",
        "1 file hidden (1 superseded), the best is old.md; --all shows them",
        "some files changed since they were indexed; run `everfind index`",
        "warning: careful",
    ]


@pytest.mark.parametrize(
    ("provenance", "relation", "expected"),
    [
        (Provenance(ProvenanceLabel.SEMANTIC, SemanticRank(1, 0.7119)), None, "semantic 0.712"),
        (
            Provenance(ProvenanceLabel.BOTH, SemanticRank(1, 0.7119), LexicalRank(1, 9.0)),
            None,
            "both 0.712",
        ),
        (Provenance(ProvenanceLabel.LEXICAL, None, LexicalRank(1, 7.312)), None, "lexical 7.31"),
        (Provenance(ProvenanceLabel.EXACT), None, "exact match"),
        (Provenance(ProvenanceLabel.GRAPH), Relation.CALLER, "graph caller"),
    ],
)
def test_labels(
    provenance: Provenance, relation: Relation | None, expected: str, capsys: pytest.CaptureFixture[str]
) -> None:
    hit = make_hit(provenance=provenance, relation=relation)
    assert hit.label == expected
    show_answer(SearchAnswer("q", 1, (hit,), Coverage()))
    assert capsys.readouterr().out.split("\t")[2] == f"[{expected}]"


def test_the_preview_is_where_the_words_are() -> None:
    text = "import os\n\nclass A:\n    def getUserName(self):\n        return self.user\n"
    assert preview(text, term_pattern("user name"), 1) == ["def getUserName(self):"]
    assert preview(text, term_pattern("zzz"), 2) == ["import os", "class A:"]
    assert preview("", None, 2) == [""]
    assert preview("}\n", term_pattern("x"), 1) == ["}"]
    assert preview("nearest resource\nso there", term_pattern("are so"), 1) == ["so there"]
    assert preview("a\nall queries", term_pattern("query"), 1) == ["all queries"]
    assert preview("搜索引擎\n向量检索", term_pattern("向量"), 1) == ["向量检索"]


def test_a_long_line_is_cut_around_the_match() -> None:
    line = "x" * 500 + " needle " + "y" * 500
    cut = around_match(line, term_pattern("needle"), 60)
    assert (len(cut), "needle" in cut, cut[0], cut[-1]) == (60, True, "…", "…")
    assert around_match(line, None, 60) == "x" * 59 + "…"


@given(st.text(max_size=200), st.text(max_size=30), st.integers(20, 60))
def test_previews_are_short_harmless_lines(text: str, query: str, width: int) -> None:
    terms = term_pattern(query)
    for line in preview(text, terms, 2):
        cut = around_match(line, terms, width)
        assert len(cut) <= width
        assert "\n" not in cut
        assert harmless(cut) == cut


@given(st.text(max_size=100))
def test_harmless_text_has_no_control_characters(text: str) -> None:
    assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e]", harmless(text))
    assert "\n" not in one_line(text)


def test_numbers() -> None:
    assert [count(1, "file"), count(0, "file"), count(1203, "file")] == ["1 file", "0 files", "1,203 files"]
    assert [size(1), size(999), size(21_000_000), size(10**15)] == ["1 byte", "999 bytes", "21.0 MB", "1000.0 TB"]
    assert [duration(4.12), duration(59.99), duration(130), duration(3900)] == ["4.1s", "1m00s", "2m10s", "1h05m"]
    assert by_reason({"binary": 3, "too_large": 12, "empty": 0}) == "12 too large, 3 binary"


def test_did_you_mean() -> None:
    assert did_you_mean("limti", ["limit", "mode"]) == "; did you mean 'limit'?"
    assert did_you_mean("xyz", ["limit", "mode"]) == ""


@pytest.mark.parametrize(("encoding", "expected"), [("utf-8", '"é\\u009b"'), ("cp1252", '"\\u00e9\\u009b"')])
def test_json_can_be_printed_anywhere(monkeypatch: pytest.MonkeyPatch, encoding: str, expected: str) -> None:
    terminal = Terminal(encoding)
    monkeypatch.setattr(sys, "stdout", terminal)
    emit_json({"x": "é\x9b"})
    assert expected in terminal.getvalue()


class ClosedPipe(io.StringIO):
    def write(self, text: str) -> int:
        raise BrokenPipeError


def test_a_closed_pipe(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdout", ClosedPipe())
    with pytest.raises(OutputClosedError):
        emit("x")
    monkeypatch.setattr(sys, "stderr", ClosedPipe())
    note("x")


def test_progress_that_nobody_watches_is_a_few_lines(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    now = [0.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    view = runs.RunView(verbose=False, quiet=True)
    for second in range(4 * 3600):
        now[0] = float(second)
        view.on_event(IndexProgress("api", second, 4 * 3600, 1, 1, 1.0))
    lines = capsys.readouterr().err.splitlines()
    assert 40 < len(lines) < 60
    assert lines[0].startswith("  api: 5/14,400 files")


def test_progress_names_the_phase_of_a_run_that_takes_files_in_twice(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    now = [0.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    view = runs.RunView(verbose=False, quiet=True)
    for phase in (IndexPhase.WORDS, IndexPhase.VECTORS):
        now[0] += 1000.0
        view.on_event(IndexProgress("api", 1, 2, 8, 1600, 5000.0, 3.0, phase))
    assert capsys.readouterr().err.splitlines() == [
        "  api: 1/2 files found by their words, 8 chunks, 5,000 tokens/s, 3.0s left",
        "  api: 1/2 files found by meaning, 8 chunks, 5,000 tokens/s, 3.0s left",
    ]


def test_progress_has_no_speed_where_nothing_is_embedded(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    now = iter([0.0, 1000.0, 1000.0, 1000.0])
    monkeypatch.setattr(time, "monotonic", lambda: next(now))
    view = runs.RunView(verbose=False, quiet=True)
    view.on_event(IndexProgress("api", 1, 2, 8, 0, 0.0, 3.0))
    assert capsys.readouterr().err == "  api: 1/2 files, 8 chunks, 3.0s left\n"


def test_an_interrupted_run_that_takes_files_in_twice_tells_both_phases() -> None:
    view = runs.RunView(verbose=False, quiet=True)
    assert view.kept() == "0 files of this run are indexed and kept"
    for done in (77, 175):
        view.on_event(IndexProgress("api", done, 1364, 8, 1600, 5000.0, 3.0, IndexPhase.WORDS))
    view.on_event(IndexProgress("docs", 5, 5, 8, 1600, 5000.0, 3.0, IndexPhase.WORDS))
    assert view.kept() == "180 files of this run can be found by words, 0 files by meaning; they are kept"
    view.on_event(FileProcessed(FileRef("api", "a.py"), 4, 4))
    assert view.kept() == "180 files of this run can be found by words, 1 file by meaning; they are kept"


def test_answers_without_all_vectors_say_so_and_not_that_files_changed() -> None:
    waiting = Coverage(2, 1_000, pending=2, unembedded=600)
    said = (
        "only 400 of 1,000 chunks have vectors yet; the rest is found by its words alone "
        "until an index run has embedded it"
    )
    assert remarks(replace(ANSWER, coverage=waiting, staleness=Staleness(stale=True, pending=2))) == [said]
    related = RelatedAnswer(1, (), (), waiting, staleness=Staleness(stale=True, pending=2))
    assert related_remarks(related)[1:] == [said]
    none = "no chunk has a vector yet; all are found by their words alone until an index run has embedded them"
    assert remarks(replace(ANSWER, coverage=replace(waiting, unembedded=1_000))) == [none]


def test_places_are_links_on_a_terminal_and_never_else(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "a b%25.py"
    (tmp_path / "a b%.py").touch()
    file.touch()
    here = replace(ANSWER, hits=(make_hit(absolute_path=encode_os_path(file)), make_hit("elsewhere.py")))
    assert file_url(encode_os_path(file), 42).endswith(f"{tmp_path}/a%20b%2525.py#42")
    monkeypatch.setattr(sys, "stdout", terminal := Terminal())
    monkeypatch.setenv("TERM", "xterm-256color")
    show_answer(here)
    assert re.findall(r"\x1b\]8;id=\d+;([^\x1b]+)\x1b", terminal.getvalue()) == [file_url(encode_os_path(file), 42)]
    for name, value in (("NO_COLOR", "1"), ("TERM", "dumb")):
        monkeypatch.setenv(name, value)
        monkeypatch.setattr(sys, "stdout", terminal := Terminal())
        show_answer(here)
        assert not re.search(r"\x1b\[[0-9;]*3\d", terminal.getvalue()), name
    assert "\x1b" not in terminal.getvalue()
    monkeypatch.undo()
    show_answer(here)
    assert "\x1b" not in capsys.readouterr().out
