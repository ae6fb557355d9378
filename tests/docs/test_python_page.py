"""docs/python.md is run as it stands: its session, and its adapters over stand-ins of what they adapt to."""

from __future__ import annotations

import doctest
import re
import shutil
import sys
from collections.abc import Callable
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from everfind_gateway import open_corpus
from everfind_gateway.cli import main
from tests.support.repository import ROOT

PAGE = (ROOT / "docs" / "python.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)


@pytest.fixture(scope="module", autouse=True)
def shop(tmp_path_factory: pytest.TempPathFactory) -> Any:
    base = tmp_path_factory.mktemp("python")
    shutil.copytree(ROOT / "docs" / "images" / "corpus", base / "shop")
    with pytest.MonkeyPatch.context() as patch:
        for kind in ("CONFIG", "DATA", "CACHE", "STATE"):
            patch.setenv(f"XDG_{kind}_HOME", str(base / kind))
        patch.chdir(base)
        assert main(["add", "shop"]) == 0
        yield


def test_the_session_does_what_the_page_shows() -> None:
    session = doctest.DocTestParser().get_doctest("".join(blocks("pycon")), {}, "docs/python.md", "docs/python.md", 0)
    told: list[str] = []
    assert doctest.DocTestRunner().run(session, out=told.append).attempted > 15
    assert "".join(told) == ""


class Given:
    """A stand-in for a value: it keeps what it is made with."""

    def __init__(self, **given: Any) -> None:
        self.__dict__.update(given)


STAND_INS = (
    {"langchain_core.documents": ["Document"], "langchain_core.retrievers": ["BaseRetriever"]},
    {"llama_index.core.retrievers": ["BaseRetriever"], "llama_index.core.schema": ["NodeWithScore", "TextNode"]},
)
ASK: tuple[Callable[[Any, Any], list[str]], ...] = (
    lambda made, corpus: [
        document.metadata["path"]
        for document in made(corpus=corpus)._get_relevant_documents("refused payment", run_manager=None)
    ],
    lambda made, corpus: [
        found.node.metadata["path"]
        for found in made(corpus, limit=6)._retrieve(SimpleNamespace(query_str="refused payment"))
    ],
)


@pytest.mark.parametrize("number", range(2), ids=["langchain", "llama-index"])
def test_an_adapter_gives_the_hits_of_a_search(number: int, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, classes in STAND_INS[number].items():
        module = ModuleType(name)
        for one in classes:
            setattr(module, one, type(one, (Given,), {}))
        monkeypatch.setitem(sys.modules, name, module)
    namespace: dict[str, Any] = {"__name__": "adapter"}
    exec(blocks("python")[number], namespace)
    with open_corpus() as corpus:
        corpus.index()
        expected = [hit.path for hit in corpus.search("refused payment", limit=6).hits]
        assert ASK[number](namespace["EverfindRetriever"], corpus) == expected != []
