"""Sections of reStructuredText are those that docutils finds."""

from __future__ import annotations

from docutils import nodes
from docutils.core import publish_doctree
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from everfind_core.chunking import restructured

WORDS = ["Alpha", "beta gamma", "1. Scope", "Why *this*", "C++", "3.1 Tokens", "Über uns"]
TITLES = st.sampled_from(WORDS)
BLOCKS = st.sampled_from(
    [
        "A paragraph\nof two lines.",
        "- item\n- item two\n\n  with more",
        "1. one\n2. two",
        "Literal::\n\n    Not a title\n    ===========\n\n    more",
        ".. code-block:: python\n\n   x = 1\n   =====\n",
        ".. note:: words\n   that go on",
        "=====  =====\nA      B\n=====  =====\n1      2\n\n3      4\n=====  =====",
        "+---+---+\n| a | b |\n+===+===+\n| 1 | 2 |\n+---+---+",
        ".. _target:",
        ".. a comment\n   Title\n   =====",
        "    quoted words",
        ":field: value\n:other: value",
        "term\n    its definition",
        "| line block\n| goes on",
        "| \n\n==\n\nshort",
        ">>> doctest\n1",
        "words\n\n----\n\nafter a transition",
    ]
)


@st.composite
def documents(draw: st.DrawFn) -> str:
    """Sections with consistent styles, and blocks between."""
    styles = draw(st.permutations(['="', "=", "-", "~", '#"', "^"]))
    depth = 0
    parts: list[str] = []
    for _ in range(draw(st.integers(0, 8))):
        if draw(st.booleans()):
            level = draw(st.integers(1, min(depth + 1, len(styles))))
            depth = level
            style, title = styles[level - 1], draw(TITLES)
            line = style[0] * (len(title) + draw(st.integers(0, 3)))
            parts.append(f"{line}\n{title}\n{line}" if len(style) > 1 else f"{title}\n{line}")
        else:
            parts.append(draw(BLOCKS))
    return "\n\n".join(parts) + "\n"


def truth(text: str) -> list[tuple[int, str]]:
    settings_ = {"report_level": 5, "halt_level": 5, "doctitle_xform": False, "sectsubtitle_xform": False}
    tree = publish_doctree(text, settings_overrides=settings_)
    found: list[tuple[int, str]] = []
    for section in tree.findall(nodes.section):
        level, above = 1, section.parent
        while isinstance(above, nodes.section):
            level, above = level + 1, above.parent
        title = section.next_node(nodes.title)
        found.append((level, title.rawsource if title else ""))
    return found


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(documents())
def test_sections(text: str) -> None:
    mine = [(label.depth, label.text) for label in restructured.analyse(text.split("\n")).labels]
    assert mine == truth(text)
