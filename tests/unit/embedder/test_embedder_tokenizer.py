from __future__ import annotations

import ast
import sysconfig
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer
from tokenizers.models import BPE
from tokenizers.pre_tokenizers import ByteLevel

from everfind_core.errors import ModelUnusableError
from everfind_core.model import TokenSpans
from everfind_embedder.engine import OnnxEmbedder
from everfind_embedder.loading.packaged import DATA_DIRECTORY
from everfind_embedder.tokenizer import HubTokenizer

WORDS = HubTokenizer((DATA_DIRECTORY / "tokenizer.json").read_bytes(), source="tokenizer.json")


def line_starts(text: str) -> list[int]:
    return [0, *(i + 1 for i, c in enumerate(text) if c == "\n"), len(text)]


def assert_slices_equal_retokenising(text: str) -> None:
    whole = WORDS.encode(text)
    for start, stop in pairwise(line_starts(text)):
        first, last = np.searchsorted(whole.starts, [start, stop])
        alone = WORDS.encode(text[start:stop])
        np.testing.assert_array_equal(whole.ids[first:last], alone.ids)
        np.testing.assert_array_equal(whole.starts[first:last], alone.starts + start)


def test_ids_and_starts() -> None:
    spans = WORDS.encode("Hello wörld\n  x😀\x00中")
    assert spans.ids.tolist() == [7592, 2088, 100, 1746]
    assert spans.starts.tolist() == [0, 6, 14, 17]
    assert spans.ids.dtype == spans.starts.dtype == np.int64


def test_neither_truncates_nor_pads() -> None:
    assert len(WORDS.encode("word " * 3_000)) == 3_000
    assert len(WORDS.encode("word")) == 1
    assert len(WORDS.encode("")) == 0


def test_wraps_in_the_models_own_special_tokens() -> None:
    assert WORDS.special_tokens == 2
    assert WORDS.wrap(np.array([7592], np.int64)).tolist() == [101, 7592, 102]
    assert WORDS.wrap(np.array([], np.int64)).tolist() == [101, 102]


def test_names_of_special_tokens_in_a_text_are_text() -> None:
    assert not {0, 101, 102, 103} & set(WORDS.encode("[CLS] a [SEP] b [PAD][MASK]").ids.tolist())


def test_lone_surrogates_do_not_stop_it() -> None:
    spans = WORDS.encode("a \ud800 b")
    assert spans.ids.tolist() == WORDS.encode("a b").ids.tolist()
    assert spans.starts.tolist() == [0, 4]


def test_the_default_model_is_sliceable() -> None:
    assert WORDS.sliceable


@given(
    st.text(
        alphabet=st.one_of(st.sampled_from("\n\n\r\t ab_.#[]0é\u0301\u00a0\u2028中🚀\0"), st.characters()), max_size=80
    )
)
def test_slicing_at_line_starts_equals_retokenising(text: str) -> None:
    assert_slices_equal_retokenising(text)


@given(st.text(max_size=60))
def test_starts_never_decrease_and_lie_in_the_text(text: str) -> None:
    spans: TokenSpans = WORDS.encode(text)
    assert len(spans.ids) == len(spans.starts)
    assert (np.diff(spans.starts) >= 0).all()
    assert all(0 <= start < len(text) for start in spans.starts)


@pytest.mark.parametrize("name", ["ast.py", "argparse.py", "html/entities.py", "encodings/mac_latin2.py"])
def test_slicing_real_files(name: str) -> None:
    text = (Path(sysconfig.get_path("stdlib")) / name).read_text(encoding="utf-8")
    ast.parse(text)
    assert_slices_equal_retokenising(text[:60_000])


def test_not_a_tokenizer() -> None:
    with pytest.raises(ModelUnusableError, match=r"x/tokenizer\.json is not a tokenizer"):
        HubTokenizer(b"{}", source="x/tokenizer.json")


def test_the_engine_hands_it_out(embedder: OnnxEmbedder) -> None:
    assert embedder.tokenizer().encode("hello").ids.tolist() == [7592]


def test_a_byte_level_tokenizer_is_not_sliceable_and_has_no_special_tokens() -> None:
    tokenizer = Tokenizer(BPE({chr(c): c - 97 for c in range(97, 123)}, []))
    tokenizer.pre_tokenizer = ByteLevel(add_prefix_space=False)
    own = HubTokenizer(tokenizer.to_str().encode(), source="t")
    assert not own.sliceable
    assert own.special_tokens == 0
    assert own.wrap(own.encode("").ids).tolist() == [0]
