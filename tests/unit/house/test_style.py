"""Messages and help keep the forms of docs/style.md, as far as a machine can tell."""

from __future__ import annotations

import ast
import functools
import re
from collections.abc import Iterator

from typer.core import TyperGroup
from typer.main import get_command

from everfind_core.errors import error_classes
from everfind_gateway.cli.app import application
from tests.support.repository import ROOT

SOURCES = sorted(path for room in ("core", "rpc", "services", "gateway") for path in (ROOT / room).rglob("*.py"))
ERRORS = frozenset(cls.__name__ for cls in error_classes().values())
NOTES = frozenset({"note", "emit"})
OUT_OF_STYLE = re.compile(
    r"\b(please|sorry|oops|successfully|failed to|unable to|illegal|repo|vault)\b|!(?![=\]])", re.IGNORECASE
)

Said = tuple[str, str]


def _text(node: ast.expr) -> str:
    """A literal, with ``{}`` for what is filled in; empty for what is not written out."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        return "".join(str(part.value) if isinstance(part, ast.Constant) else "{}" for part in node.values)
    return ""


@functools.cache
def _calls() -> list[tuple[str, ast.Call]]:
    return [
        (f"{path.relative_to(ROOT)}:{node.lineno}", node)
        for path in SOURCES
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call)
    ]


def _error_message(call: ast.Call) -> ast.expr | None:
    made = call.func
    if isinstance(made, ast.Name) and made.id in ERRORS and call.args:
        return call.args[0]
    if isinstance(made, ast.Attribute) and made.attr == "of" and isinstance(made.value, ast.Name):
        return call.args[1] if made.value.id in ERRORS and len(call.args) > 1 else None
    return None


def _messages() -> Iterator[Said]:
    for place, call in _calls():
        message = _error_message(call)
        if message is not None and _text(message):
            yield place, _text(message)


def _hints() -> Iterator[Said]:
    for place, call in _calls():
        for keyword in call.keywords:
            if keyword.arg == "hint" and _text(keyword.value):
                yield place, _text(keyword.value)


def _notes() -> Iterator[Said]:
    for place, call in _calls():
        said = _text(call.args[0]) if isinstance(call.func, ast.Name) and call.func.id in NOTES and call.args else ""
        if said.strip("{}") and not said.startswith("  hint: "):
            yield place, said


def _starts_low(text: str) -> bool:
    """Lower case, but for names that are in capitals (``TLS``, ``EVERFIND_TOKEN``)."""
    return not re.match(r"[A-Z][a-z ]", text)


def _out_of_form(said: Iterator[Said], form: str) -> list[Said]:
    return [one for one in said if not re.fullmatch(form, one[1], re.DOTALL)]


def test_errors_start_low_and_have_no_full_stop() -> None:
    found = list(_messages())
    assert len(found) > 100
    assert [one for one in found if not _starts_low(one[1]) or one[1].endswith(".")] == []


def test_hints_are_sentences_or_end_in_a_command() -> None:
    assert _out_of_form(_hints(), r"[A-Z`{].*(\.|: [a-z{].*)") == []


def test_notes_start_low_and_have_no_full_stop() -> None:
    assert [one for one in _notes() if not _starts_low(one[1]) or re.search(r"[^.]\.$", one[1])] == []


def test_messages_blame_nobody() -> None:
    said = [*_messages(), *_hints(), *_notes()]
    assert [one for one in said if OUT_OF_STYLE.search(re.sub(r"`[^`]*`", "", one[1]))] == []


def _commands(group: TyperGroup, *names: str) -> Iterator[tuple[str, object]]:
    for name, command in group.commands.items():
        yield " ".join((*names, name)), command
        if isinstance(command, TyperGroup):
            yield from _commands(command, *names, name)


def _helps() -> Iterator[Said]:
    top = get_command(application())
    assert isinstance(top, TyperGroup)
    for name, command in [("everfind", top), *_commands(top)]:
        yield name, str(getattr(command, "help", ""))
        for parameter in getattr(command, "params", []):
            if not parameter.hidden:
                yield f"{name} {'/'.join(parameter.opts)}", str(parameter.help)


def test_help_is_in_sentences() -> None:
    paragraphs = [(place, " ".join(one.split())) for place, text in _helps() for one in text.split("\n\n")]
    assert _out_of_form(iter(paragraphs), r"[A-Z`-].*\.") == []


def test_help_options_mean_the_same_everywhere() -> None:
    """An option of several commands is of one kind: it takes a value in all or in none."""
    top = get_command(application())
    assert isinstance(top, TyperGroup)
    kinds: dict[str, set[bool]] = {}
    for _, command in _commands(top):
        for parameter in getattr(command, "params", []):
            if parameter.param_type_name == "option":
                kinds.setdefault(parameter.opts[0], set()).add(bool(parameter.is_flag))
    assert [option for option, kind in kinds.items() if len(kind) > 1] == []
