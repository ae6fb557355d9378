"""A small corpus of two folders in which each question has one right answer."""

from __future__ import annotations

from pathlib import Path

FILES = {
    "code/src/session.py": '''"""Sessions and their tokens."""

RENEWAL_SECONDS = 600


def getUserName(session):
    """The name of the user that a session belongs to."""
    return session.user.name


def refresh_token(token):
    """Give a new token for one that ran out at most RENEWAL_SECONDS ago."""
    if token.age > RENEWAL_SECONDS:
        raise ValueError("ERR_TOKEN_EXPIRED")
    return token.renewed()
''',
    "code/src/storage/atomic.go": """package storage

// WriteAtomic writes beside the target and renames, so that a reader never sees half a file.
func WriteAtomic(path string, data []byte) error {
	return rename(writeTemporary(path, data), path)
}
""",
    "code/tests/test_session.py": """def test_refresh_token_gives_a_new_one():
    assert refresh_token(expired()) is not None
""",
    "code/package.json": '{\n  "name": "example",\n  "version": "1.0.21"\n}\n',
    "docs/auth.md": """# Auth

How people sign in.

## Token refresh window

A token may be renewed for ten minutes after it ran out.

## Passwords

They are hashed with a slow function and a salt.
""",
    "docs/decisions/0001-storage.md": """# 1. Files are replaced by renaming

A crash in the middle of a write must not leave a broken file behind.
""",
    "docs/登录.md": "# 登录\n\n用户登录鉴权逻辑在网关服务里实现。\n",
    "docs/日本語.md": "# 設定\n\nデータベースの接続設定について説明します。\n",
    'docs/it\'s 100% "odd" [name]_.md': "# Odd name\n\nThe capybara is the largest rodent.\n",
    "docs/secret.md": "# Deploy\n\nThe token is ghp_" + "a1B2" * 9 + " and nothing else.\n",
}


def write_corpus(base: Path) -> None:
    """Write it below ``base``."""
    for name, text in FILES.items():
        path = base / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
