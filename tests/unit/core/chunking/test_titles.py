"""Titles of plain texts: every chunk below says which document it is of."""

from __future__ import annotations

from textwrap import dedent

import pytest

from everfind_core.chunking import TextChunker
from everfind_core.model import Document, LineKind
from everfind_core.ports import ChunkLimits
from tests.support.fakes import FakeTokenizer

LIMITS = ChunkLimits(target=12, hard=40, overlap=0)
BODY = "\n".join(f"       sentence {number} about streams and their ends.\n" for number in range(6))
TEXT = "\n".join(f"sentence {number} about streams and their ends.\n" for number in range(6))

MANUAL = """
LIFT(1)                      Harbour Manual                      LIFT(1)

NAME
       lift - take crates from a wagon

OPTIONS
       --slow
           Take one crate at a time, and wait for the wagon to be moved.

       --all
           Take all crates that are there, whatever they hold.
"""
MEMO = f"""
Network Working Group                                       M. Lindqvist
Request for Comments: 8801                              Harbour Networks
Category: Experimental                                     December 2014


               An Experiment in
              Announcing Parcels

1.  Introduction

{BODY}
"""
ABSTRACT = """
Parcels are announced by streams.

Streams end when a depot is closed, and nothing is announced again after that day.

A depot that opens anew begins another stream, with the parcels that it holds.
"""


def headings(text: str) -> list[str]:
    document = Document(dedent(text).lstrip("\n"), LineKind.PROSE, "text")
    return [chunk.heading for chunk in TextChunker().chunk(document, FakeTokenizer(), LIMITS)]


@pytest.mark.parametrize(
    ("text", "title"),
    [
        (MANUAL, "lift - take crates from a wagon > OPTIONS"),
        (MEMO, "An Experiment in Announcing Parcels > 1.  Introduction"),
        (ABSTRACT, "Parcels are announced by streams."),
    ],
    ids=["manual", "memo", "first line"],
)
def test_a_text_has_a_title(text: str, title: str) -> None:
    assert headings(text)[-1] == title


@pytest.mark.parametrize(
    "text",
    [
        f"Dear all\n\n{TEXT}",
        f"Streams of depots,\n\n{TEXT}",
        f"Streams of depots\nand their ends\n\n{TEXT}",
        f"2026-03-01   12:00   a stream began\n\n{TEXT}",
        f"{'streams and ' * 20}ends\n\n{TEXT}",
        "Streams of depots\n",
    ],
    ids=["two words", "goes on", "two lines", "columns", "long", "nothing below"],
)
def test_a_text_has_none(text: str) -> None:
    assert set(headings(text)) == {""}


def test_a_heading_at_the_start_is_the_title_as_it_was() -> None:
    text = f"Streams of depots\n=================\n\n{BODY}"
    assert headings(text)[-1] == "Streams of depots"
