"""Write the pages that are made from the code: settings, commands, secrets, reference. ``--check`` only compares."""

from __future__ import annotations

import argparse
import io
import os
import sys
from collections.abc import Mapping
from contextlib import redirect_stdout
from pathlib import Path
from typing import get_args, get_origin

from pydantic.fields import FieldInfo
from typer.main import get_group

from everfind_core.errors import EXIT_CODES, ErrorKind
from everfind_core.text.secret_formats import RULES
from everfind_gateway.cli import main as everfind
from everfind_gateway.cli.app import COMMANDS, GROUPS, application
from everfind_gateway.config.setting_values import ENV_PREFIX, setting_fields

DOCS = Path(__file__).resolve().parent.parent / "docs"
sys.path.insert(0, str(DOCS.parent))
MADE = "<!-- Made by scripts/generate_docs.py; change the code, then run `make docs`. -->"

SETTINGS_HEAD = f"""{MADE}

# Settings

`everfind config` prints every setting, its value, and where it came from. The first source that gives one wins:

1. flags of the command;
2. the environment: `{ENV_PREFIX}` and the setting's name in capitals, such as `{ENV_PREFIX}LIMIT=5`;
3. the project's file, `.everfind/config.toml`, found by walking up from the working directory, else from
   `CLAUDE_PROJECT_DIR`;
4. the user's file, `everfind/config.toml` in the user's configuration directory (`~/.config` on Linux, or
   `XDG_CONFIG_HOME`);
5. the default.

`--config PATH` (or `EVERFIND_CONFIG`) selects a project by its directory or its `.everfind/config.toml`; any other file
takes the place of the user's file, and is then the only one read.

Relative paths start at the directory of the user's file, at the project's root, or, in flags and the environment, at
the working directory. A key that everfind does not know is kept and reported. A file that cannot be parsed ends every
command with its line, and is never overwritten.

## What a project's file may say

It comes with a clone, so it is not trusted: it may set only what the tables below mark with *project*, and its folders
and index must lie inside the project after links are resolved. Anything else that could matter (a server, provider,
endpoint, model, token, redaction, limit, command …) ends the command with an error that names file, line and key.

A project's file with `folders` or `index_dir` makes the project an instance of its own: `add`, `remove`, `list`,
`index` and `search` in it use its folders, and its index lies in `.everfind/index` unless `index_dir` says otherwise.
Without either, its preferences apply to the user's own folders.

## Folders

`everfind add` writes them; put other settings above the first one.

```toml
[[folders]]
name = "notes"              # short and unique; from the directory's name where left out
path = "/home/me/notes"     # in a project's file relative to its root
include = ["*.md"]          # index only files whose path matches; everything where left out
default_exclude = ["old"]   # as the setting of this name, for this folder alone
path_boosts = {{ "reference/" = 1.15 }}
```

Patterns of things never to index go into `.indexignore` files (gitignore syntax) in a folder, or beside the user's
settings file for all folders.
"""

CLI_HEAD = f"""{MADE}

# Command line

Data goes to stdout, everything else to stderr. `--json` prints one object, described in [json.md](json.md); errors stay
text on stderr and show in the exit code, so stdout holds a whole object or nothing. In a pipe there are no colours and
no tables, and `NO_COLOR` turns colours off on a terminal. Control characters in texts are shown as escapes, except in
what `cat` and `gather` write to a pipe; in names as `%XX`. Every place that is printed can be given to a command again.

To search a directory without adding it: `everfind index DIR --workspace NAME` indexes it apart from the added folders,
and `everfind --workspace NAME` before any command uses it in their place. `everfind list --workspaces` shows
what there is, `everfind remove --workspace NAME` deletes one. The user's settings hold for it, no project's.
`everfind --workspace ./DIR` uses the project in which a directory lies, as if it were the working directory. More in
[workspaces](howto/workspaces.md).

A query that starts with a dash goes after `--`: `everfind search -- "--no-verify flag"`.

## Exit codes
"""

SECRETS_HEAD = f"""{MADE}

# Masked secrets

Before text is stored, embedded or shown, what is known to be a secret is replaced by a mask such as
`[redacted:github-token]`. Only formats that their issuer made recognisable are known; nothing is guessed by
randomness, so a secret of another kind stays: keep it out of what is indexed. Line numbers stay, `everfind status`
counts the masks, and `redact_secrets = false` in the user's own settings turns masking off.

An index is bound to the formats that it was made with. Where a new version knows more, the old index is refused until
`everfind index --rebuild` has made a new one and removed the old text.

| mask | known by |
|---|---|
| `private-key` | the armour of PEM, OpenSSH and PGP private keys, and PuTTY's `Private-Lines` |
"""

SHAPES: dict[str, list[str]] = {
    "discord-token": ["ID-IN-BASE64.6-CHARACTERS.27-CHARACTERS"],
    "url-password": ["SCHEME://USER:PASSWORD@HOST"],
}
"""Formats that another thing than a prefix tells."""

EXIT_MEANINGS: dict[ErrorKind, str] = {
    ErrorKind.INTERNAL: "a fault of everfind; `EVERFIND_DEBUG=1` prints a traceback",
    ErrorKind.USAGE: "the command line or a value in it is wrong",
    ErrorKind.CONFIG: "a settings file or a setting cannot be used",
    ErrorKind.NOT_FOUND: "no such folder, file or workspace",
    ErrorKind.CONFLICT: "the folder or its name is already added",
    ErrorKind.PRECONDITION: "no index yet, or one of another model or version; `doctor` found something wrong",
    ErrorKind.DATA: "the index, or an archive to import, is damaged",
    ErrorKind.BUSY: "another process writes, or a service is at its limits",
    ErrorKind.STORAGE: "the disk is full or cannot be written",
    ErrorKind.MODEL: "the embedding model cannot be used",
    ErrorKind.DENIED: "the token is missing, unknown, or not allowed to do this",
    ErrorKind.UNAVAILABLE: "a service does not answer, or not in time",
    ErrorKind.CANCELLED: "interrupted by Ctrl-C, SIGTERM or SIGHUP (a lost terminal); what was committed stays",
}


def settings_page() -> str:
    """docs/settings.md."""
    groups: dict[str, list[str]] = {}
    for name, field in setting_fields().items():
        extra = field.json_schema_extra
        assert isinstance(extra, dict)
        groups.setdefault(str(extra["group"]), []).append(_setting_row(name, field, extra))
    sections = [
        f"\n## {group}\n\n| setting | default | allowed | what it does |\n|---|---|---|---|\n" + "\n".join(rows) + "\n"
        for group, rows in groups.items()
    ]
    return SETTINGS_HEAD + "".join(sections)


def cli_page() -> str:
    """docs/cli.md."""
    meanings: dict[int, list[str]] = {0: ["success, an empty answer included"]}
    for kind, code in EXIT_CODES.items():
        meanings.setdefault(code, []).append(EXIT_MEANINGS[kind])
    rows = "\n".join(f"| {code} | {'; '.join(texts)} |" for code, texts in sorted(meanings.items()))
    top = get_group(application()).commands
    nested = [(group, inner) for group in GROUPS for inner in getattr(top[group], "commands", {})]
    commands = [(name,) for name in (*COMMANDS, *GROUPS)] + nested
    sections = [_help_section("everfind"), *(_help_section(" ".join(("everfind", *c)), *c) for c in commands)]
    return f"{CLI_HEAD}\n| code | meaning |\n|---|---|\n{rows}\n" + "".join(sections)


def secrets_page() -> str:
    """docs/secrets.md."""
    marks: dict[str, list[str]] = {}
    for rule in RULES:
        marks.setdefault(rule.name, []).extend(rule.literals)
    marks |= SHAPES
    rows = [f"| `{name}` | {', '.join(f'`{mark}`' for mark in known)} |\n" for name, known in sorted(marks.items())]
    return SECRETS_HEAD + "".join(rows)


def main(arguments: list[str] | None = None) -> int:
    """Write the pages, or with ``--check`` say which differ from what they should be."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="change nothing, fail if a page is not fresh")
    check = parser.parse_args(arguments).check
    from scripts import reference_pages  # found by the line above

    own = (("settings.md", settings_page()), ("cli.md", cli_page()), ("secrets.md", secrets_page()))
    stale = []
    for name, text in (*own, *reference_pages.pages()):
        page = DOCS / name
        if page.exists() and page.read_text(encoding="utf-8") == text:
            continue
        stale.append(page)
        if not check:
            page.write_text(text, encoding="utf-8")
    for page in stale:
        print(f"{'not fresh' if check else 'written'}: {page.relative_to(DOCS.parent)}", file=sys.stderr)
    return 1 if check and stale else 0


def _setting_row(name: str, field: FieldInfo, extra: Mapping[str, object]) -> str:
    may = " *project*" if extra["project"] else ""
    default = extra["shown_default"] or _shown(field.default)
    return f"| `{name}`{may} | {default} | {_allowed(field)} | {field.description} |"


def _shown(value: object) -> str:
    if value in ("", ()):
        return "none"
    return f"`{str(value).lower() if isinstance(value, bool) else value}`"


def _allowed(field: FieldInfo) -> str:  # noqa: PLR0911 - a case a line
    """The allowed values in words, from the field's type and limits."""
    bounds = {
        key: value
        for limit in field.metadata
        for key in ("ge", "le")
        if (value := getattr(limit, key, None)) is not None
    }
    if bounds:
        return f"{bounds['ge']:,} to {bounds['le']:,}"
    choices: tuple[object, ...] = getattr(field.annotation, "__args__", ())
    if choices and all(isinstance(choice, str) for choice in choices):
        return ", ".join(f"`{choice}`" for choice in choices)
    if field.annotation is bool:
        return "`true`, `false`"
    if field.annotation in (Path, str) or Path in choices:
        return "text" if field.annotation is str else "a path"
    if get_origin(field.annotation) is dict:
        return "a table of names and paths" if "Path" in str(field.annotation) else "a table of globs and factors"
    if tools := get_args(next(iter(choices), None)):  # also Annotated[Path, …], which holds a type first
        return "a list of " + (_LISTED.get(tools[0]) or ", ".join(f"`{tool}`" for tool in tools))
    return f"a list of {'globs' if 'glob' in str(field.description) else 'words'}"


_LISTED = {Path: "paths", str: "names and directories"}
"""What a list holds whose elements have a type with limits."""


def _help_section(title: str, *command: str) -> str:
    output = io.StringIO()
    os.environ["COLUMNS"] = "80"  # the page must not depend on the terminal it is made in
    with redirect_stdout(output):
        everfind([*command, "--help"])
    return f"\n## {title}\n\n```\n{output.getvalue().strip()}\n```\n"


if __name__ == "__main__":
    sys.exit(main())
