"""The front of everfind: settings, command line, the one-process mode, and the Python API (docs/python.md).

The API is loaded when it is used: neither commands nor a team's proxy wait for it or need it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from everfind_core.late_names import late_names

if TYPE_CHECKING:
    from everfind_gateway.async_corpus import AsyncCorpus, open_async_corpus
    from everfind_gateway.corpus import Corpus, open_corpus
else:
    __getattr__ = late_names(
        __name__, {"async_corpus": "AsyncCorpus open_async_corpus", "corpus": "Corpus open_corpus"}
    )

__all__ = ["AsyncCorpus", "Corpus", "open_async_corpus", "open_corpus"]


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
