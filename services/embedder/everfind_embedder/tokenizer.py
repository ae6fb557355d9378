"""The model's tokenizer, with the special tokens that the model wants around a text."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from everfind_core.errors import ModelUnusableError
from everfind_core.ports import TokenIds
from everfind_rpc.tokenizer import FileTokenizer

if TYPE_CHECKING:
    import tokenizers

_PROBE = "a"


class HubTokenizer(FileTokenizer):
    """A ``tokenizer.json`` that also wraps tokens as its own post-processor does."""

    def __init__(self, content: bytes, *, source: str) -> None:
        """Read the file's ``content``; ``source`` names it in errors.

        Raises:
            ModelUnusableError: it is not a tokenizer.
        """
        super().__init__(content, source=source)
        self._before, self._after = _special_tokens(self._tokenizer, source)

    @property
    def special_tokens(self) -> int:
        """How many tokens :meth:`wrap` adds."""
        return len(self._before) + len(self._after)

    def prefix_ids(self, prefix: str) -> TokenIds:
        """Tokens that stand for ``prefix`` before those of a text; white space at its end belongs to no token."""
        return self.encode_ids(prefix.rstrip())

    def wrap(self, ids: TokenIds) -> TokenIds:
        """``ids`` between the model's own special tokens; never empty, as a model needs a token."""
        wrapped = np.concatenate([self._before, ids, self._after])
        return wrapped if len(wrapped) else np.zeros(1, np.int64)


def _special_tokens(tokenizer: tokenizers.Tokenizer, source: str) -> tuple[TokenIds, TokenIds]:
    """What the tokenizer's own post-processor puts before and after a text."""
    plain = tokenizer.encode(_PROBE, add_special_tokens=False).ids
    wrapped = tokenizer.encode(_PROBE, add_special_tokens=True).ids
    for start in range(len(wrapped) - len(plain) + 1):
        if wrapped[start : start + len(plain)] == plain:
            return np.array(wrapped[:start], np.int64), np.array(wrapped[start + len(plain) :], np.int64)
    raise ModelUnusableError(
        f"{source} changes a text's tokens when it adds special ones",
        hint="Use a model whose tokenizer puts special tokens before and after the text only.",
        details={"path": source},
    )
