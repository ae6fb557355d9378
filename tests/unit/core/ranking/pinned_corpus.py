"""A corpus that touches every ranking rule, made by a fixed seed, and the candidates that two arms find in it.

Whoever means to change what ranking or admission gives writes the pinned outcome anew:
``python -m tests.unit.core.ranking.pinned_corpus``.
"""

from __future__ import annotations

import hashlib
import json
import random
from pathlib import Path
from typing import Any

from everfind_core.model import FileRef
from everfind_core.ports import StoredChunk
from everfind_core.ranking import Candidate, Limits, admit, order

PINNED = Path(__file__).parent / "pinned_ranking.json"

PATHS = (
    "src/session/token_store.py",
    "src/session/_internal/refresh.py",
    "src/http/router_group.go",
    "tests/test_token_store.py",
    "examples/login.py",
    "vendor/jwt/jwt.min.js",
    "compat/old_tokens.py",
    "docs/auth/refresh.md",
    "docs/adr/0007-tokens.md",
    "CHANGELOG.md",
    "config/app.yaml",
    "src/session/__init__.py",
    "文档/令牌.md",
)
LINES = (
    "def refresh_token(store, user):",
    "class TokenStore:",
    "    def refresh(self, token: str) -> Token:",
    "TOKEN_LIFETIME = 3600",
    'raise SessionError("the refresh token of this session has expired")',
    "func (group *RouterGroup) Handle(method string) {",
    "store.refresh(token)",
    "# how tokens are refreshed before they expire",
    "the session of a user ends when its token is revoked",
    "令牌过期之后需要重新登录",
    "import jwt",
)
QUERIES = (
    "refresh_token",
    "TokenStore.refresh",
    "TOKEN_LIFETIME",
    "the refresh token of this session has expired",
    "how are tokens refreshed before they expire",
    "tests of the token store",
    "router group",
    "令牌过期",
    "where is the session configured and documented in token_store.py",
    "an example of a login with jwt in the old api",
    "x",
    "!!",
)

LIMITS = (Limits(floor=0.35, english_only=True), Limits(min_score=0.3), Limits(floor=0.9, relative_cutoff=0.5))


def candidates(query: str) -> list[Candidate]:
    """What the arms would find for ``query``: always the same, some by one arm alone, some with equal scores."""
    choose = random.Random(query)
    made = []
    for n in range(60):
        path = choose.choice(PATHS)
        text = "\n".join(choose.choices(LINES, k=choose.randint(1, 4)))
        symbol = choose.choice(("", "", "TokenStore.refresh", "refresh_token"))
        dated = choose.choice(("", "2024-02-01", "2025-07", "2026-01-15")) if path.startswith("docs/") else ""
        chunk = StoredChunk(
            f"{n}", FileRef("f", path), n, n + 1, n + 2, text, "", "k", "h", 10,
            symbol=symbol, kind="function" if symbol else "", heading=choose.choice(("", "Tokens")), date=dated,
        )  # fmt: skip
        arms = choose.choice(("both", "semantic", "lexical"))
        cosine = None if arms == "lexical" else round(choose.uniform(-0.1, 0.9), 2)
        bm25 = None if arms == "semantic" else round(choose.uniform(0.1, 20), 1)
        made.append(Candidate(chunk, cosine, bm25))
    return made


def outcome(query: str) -> dict[str, Any]:
    """What ranking and admission give: the first ten with their scores, a digest of all reasons, and what is kept."""
    placed = order(query, candidates(query))
    reasons = [
        [one.candidate.chunk.chunk_id, [[part.rule, round(part.value, 9) + 0.0] for part in one.contributions]]
        for one in placed
    ]
    kept = [admit(query, [one.candidate for one in placed], limits, 1_000) for limits in LIMITS]
    return {
        "first": [[one.candidate.chunk.chunk_id, one.score] for one in placed[:10]],
        "reasons": hashlib.sha256(json.dumps(reasons).encode()).hexdigest(),
        "kept": [
            [list(one.kept), [list(pair) for pair in sorted(one.exact.items())], sorted(one.alone), one.judged]
            for one in kept
        ],
        "best": [one.best for one in kept],
    }


if __name__ == "__main__":
    lines = [f" {json.dumps(query, ensure_ascii=False)}: {json.dumps(outcome(query))}" for query in QUERIES]
    PINNED.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
