"""Providers as a user configures them: what is sent where, who is told of it, and what a search says."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from everfind_gateway.cli import main
from tests.support.providers import Answer, serve


def provider(path: str, body: Any) -> Answer:
    rows: list[dict[str, Any]]
    if path == "/rerank":
        rows = [{"index": n, "relevance_score": float("turtle" in text)} for n, text in enumerate(body["documents"])]
        return 200, {"data": rows, "results": rows}, {}
    rows = [
        {"index": n, "embedding": [1, len(text), text.count("e"), 0, 0, 0, 0, 0]}
        for n, text in enumerate(body["input"])
    ]
    return 200, {"data": rows}, {}


@pytest.mark.slow
def test_a_provider_embeds_and_reranks_and_is_named(
    home: Path, user_config: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.undo()  # the real workspace
    notes = home / "notes"
    notes.mkdir()
    for name, text in (("a.md", "# Tea\n\nGreen tea is warm.\n"), ("b.md", "# Pets\n\nA turtle is slow.\n")):
        (notes / name).write_text(text, encoding="utf-8")
    (home / "key").write_text("k\n", encoding="utf-8")
    monkeypatch.setenv("HOME", str(home))
    for kind in ("config", "data", "cache", "state"):
        monkeypatch.setenv(f"XDG_{kind.upper()}_HOME", str(home / kind))
    with serve(provider) as stand_in:
        user_config.write_text(
            f'model = "voyage:voyage-code-3"\nmodel_endpoint = "{stand_in.url}"\nmodel_key_file = "{home / "key"}"\n'
            f'expansion_endpoint = "{stand_in.url}"\nexpansion_model = "m"\n'
            f'reranker = "cohere:rerank-v3.5"\nreranker_endpoint = "{stand_in.url}"\n',
            encoding="utf-8",
        )
        assert main(["add", str(notes)]) == 0
        assert main(["index"]) == 0
        capsys.readouterr()
        assert main(["search", "--rerank", "--json", "warm tea"]) == 0
        hits = json.loads(capsys.readouterr().out)["hits"]
        assert [hit["path"] for hit in hits] == ["b.md", "a.md"]
        assert hits[0]["provenance"]["rerank"] == {"rank": 1, "score": 1.0}
        assert main(["status", "--json"]) == 0
        outgoing = json.loads(capsys.readouterr().out)["outgoing"]
        assert outgoing == [
            f"the text of indexed files, and queries, to {stand_in.url}",
            f"queries that are reranked, and the text of their hits, to {stand_in.url}",
            f"queries that name nothing exactly, to {stand_in.url}",
        ]
        main(["doctor"])
        assert stand_in.url in capsys.readouterr().out
    assert {key for key, path in zip(stand_in.keys, stand_in.paths, strict=True) if path == "/embeddings"} == {
        "Bearer k"
    }
    assert main(["search", "--rerank", "--json", "--mode", "lexical", "tea"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert [hit["path"] for hit in answer["hits"]] == ["a.md"]
    assert "not reranked" in answer["warnings"][0]
