"""Terms of the rows of fragments, and their postings."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from hypothesis import strategies as st

from everfind_searcher.store.postings import Postings

WORDS = st.lists(st.sampled_from(["one", "two", "three", "zwölf", "十三", "x" * 40]), max_size=300)
FRAGMENTS = st.lists(st.lists(WORDS, max_size=8), min_size=1, max_size=4)


def inverted(rows: Sequence[Sequence[str]]) -> Postings:
    terms = list(dict.fromkeys(word for row in rows for word in row))
    numbers = np.array([terms.index(word) for row in rows for word in row], dtype=np.int32)
    return Postings.counted(terms, numbers, np.array([len(row) for row in rows], dtype=np.int64))
