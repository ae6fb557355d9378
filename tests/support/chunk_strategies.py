"""Lines and limits that property tests cut documents of."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from everfind_core.model import TokenSpans
from everfind_core.ports import ChunkLimits

LIMITS = st.builds(
    lambda hard, target, overlap: ChunkLimits(max(1, hard * target // 10), hard, hard * overlap // 10),
    st.integers(4, 80),
    st.integers(4, 10),
    st.integers(0, 4),
)

PIECES = st.sampled_from(
    [
        *(
            "# A",
            "## B",
            "|===",
            "| a | b |",
            "|---|---|",
            "----",
            "====",
            "* Star",
            ".. code::",
            "name,other",
            '"open',
            "<h1>",
            "</h1>",
            "<!--",
            "<script>",
            "#+begin_src",
            ":END:",
            "Title\n===",
            "```",
            "```py",
            "~~~",
            "",
            "",
            "\t",
            "   ",
            "- item one",
            "| a | b |",
            "---",
            "+++",
        ),
        *(
            "def f(x):",
            "class C:",
            "    def m(self):",
            "    # note",
            "    return x",
            "}",
            "key: value",
            "[section]",
            "{",
        ),
        *("func (s *T) Go() {", "1.2 Scope", "NAME", "    {", "a: {", "\x0c", "@decorator", "= Title", "\u200b", "\r"),
    ]
)

ANY_LINE = st.text(st.characters(exclude_characters="\n", codec="utf-8"), max_size=60)

SENTENCES = st.lists(
    st.sampled_from(["Every word counts.", "So it is; 认证失败。", "x", "a,b", "lorem ipsum "]), max_size=60
)

LONG_LINE = SENTENCES.map(" ".join) | st.text("ab", min_size=150, max_size=4000)


class Blind:
    """Makes nothing of any text: lengths in characters alone decide."""

    sliceable = True

    def encode(self, text: str) -> TokenSpans:
        none = np.empty(0, dtype=np.int64)
        return TokenSpans(none, none)
