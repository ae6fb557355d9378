"""Pages of reference that are made from the code: the agents' tools, their JSON schemas, metrics, and the contracts."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from google.protobuf.descriptor_pb2 import (
    DescriptorProto,
    EnumDescriptorProto,
    FieldDescriptorProto,
    FileDescriptorProto,
    FileDescriptorSet,
)

from everfind_core.model import Coverage, WorkspaceStatus
from everfind_gateway.mcp.arguments import input_schema
from everfind_gateway.mcp.indexing import INDEX_TOOL, aliases
from everfind_gateway.mcp.outputs import output_schema
from everfind_gateway.mcp.tools import READING_TOOLS, Tool
from everfind_rpc.serving.metrics import PrometheusMetrics

ROOT = Path(__file__).resolve().parent.parent
MADE = "<!-- Made by scripts/generate_docs.py; change the code, then run `make docs`. -->"
TOOLS = (*READING_TOOLS, INDEX_TOOL, *aliases())

_TOOLS_HEAD = f"""{MADE}

# Agents' tools

What `everfind mcp` offers ([how to set it up](mcp.md)). Each result has a text for the model, and a structured form
whose schema stands in [schema.json](schema.json) under the tool's name; [json.md](json.md) shows the same objects.
"""

_METRICS_HEAD = f"""{MADE}

# Metrics

Each service answers Prometheus at `/metrics` where `EVERFIND_METRICS_LISTEN` names an address. Labels never hold a
folder, a path or a token. [Deploy](deploy.md#watch-it) has a dashboard.

| metric | type | labels | what it says |
|---|---|---|---|
"""

_PROTOCOL_HEAD = f"""{MADE}

# Protocol

The contracts in `proto/`, which clients in any language are made from ([how to use them](grpc.md), [how to read
them](../proto/README.md)). A name that ends in `?` is optional: absent, it has the default that its comment states.
"""


def tools_page() -> str:
    """docs/tools.md."""
    return _TOOLS_HEAD + "".join(map(_tool, TOOLS))


def _tool(tool: Tool) -> str:
    properties: Mapping[str, Mapping[str, Any]] = input_schema(tool.arguments).get("properties", {})
    required = input_schema(tool.arguments).get("required", [])
    rows = [
        f"| `{name}` | {_json_type(given)} | {'required' if name in required else _default(given)} | "
        f"{_cell(given.get('description', ''))} |\n"
        for name, given in properties.items()
    ]
    table = "\n| argument | type | default | |\n|---|---|---|---|\n" + "".join(rows) if rows else "\nNo arguments.\n"
    reads = "" if tool.read_only else " It writes to the index."
    return f"\n## {tool.name}\n\n{tool.description}{reads}\n{table}"


def _json_type(given: Mapping[str, Any]) -> str:
    if choices := given.get("enum"):
        return ", ".join(f"`{choice}`" for choice in choices)
    if kinds := given.get("anyOf"):
        return " or ".join(map(_json_type, kinds))
    if given.get("type") == "array":
        return f"list of {_json_type(given['items'])}"
    bounds = [str(given[key]) for key in ("minimum", "maximum") if key in given]
    return f"{given.get('type', 'anything')}" + (f", {' to '.join(bounds)}" if len(bounds) == 2 else "")


def _default(given: Mapping[str, Any]) -> str:
    value = given.get("default")
    return "" if value in (None, "", [], ()) else f"`{json.dumps(value)}`"


def schema_text() -> str:
    """docs/schema.json: the JSON schema of each tool's result, by its name."""
    schemas = {tool.name: output_schema(tool.output) for tool in TOOLS}
    return json.dumps(schemas, indent=1, ensure_ascii=False, sort_keys=True) + "\n"


def metrics_page() -> str:
    """docs/metrics.md. Each metric is fed once, so that it shows its labels."""
    metrics = PrometheusMetrics()
    metrics.call("everfind.searcher.v1.SearcherService/Search", "OK", 0.1)
    metrics.run("query", 1, 1, 0.1)
    metrics.watch_waiting("query", lambda: 0)
    with tempfile.TemporaryDirectory() as index:
        metrics.watch_index(lambda: WorkspaceStatus("", index, 1, (), Coverage(0, 0, {})))
        families = sorted(metrics.registry.collect(), key=lambda family: family.name)
    rows = []
    for family in families:
        labels = sorted({label for sample in family.samples for label in sample.labels} - {"le"})
        name = f"{family.name}_total" if family.type == "counter" else family.name
        rows.append(f"| `{name}` | {family.type} | {', '.join(map(_code, labels))} | {_cell(family.documentation)} |\n")
    return _METRICS_HEAD + "".join(rows)


def protocol_page() -> str:
    """docs/protocol.md."""
    return _PROTOCOL_HEAD + "".join(text for file in _contracts() for text in _File(file).page())


def _contracts() -> Iterator[FileDescriptorProto]:
    """The files of `proto/`, with their comments."""
    from grpc_tools import protoc  # type: ignore[import-untyped]  # the package has no types

    files = sorted(str(path.relative_to(ROOT / "proto")) for path in (ROOT / "proto" / "everfind").rglob("*.proto"))
    with tempfile.TemporaryDirectory() as directory:
        out = Path(directory) / "all.binpb"
        include = Path(protoc.__file__).parent / "_proto"
        code = protoc.main(
            ["", f"-I{ROOT / 'proto'}", f"-I{include}", "--include_source_info", f"--descriptor_set_out={out}", *files]
        )
        if code:
            raise SystemExit("proto/ cannot be read")
        yield from FileDescriptorSet.FromString(out.read_bytes()).file


class _File:
    """One contract file, and its comments by their paths in it."""

    def __init__(self, file: FileDescriptorProto) -> None:
        self.file = file
        self.comments = {
            tuple(place.path): " ".join(place.leading_comments.split()) for place in file.source_code_info.location
        }

    def page(self) -> Iterator[str]:
        """Its services, messages and enumerations."""
        yield f"\n## {self.file.name}\n"
        for number, service in enumerate(self.file.service):
            yield f"\n### {self.file.package}.{service.name}\n\n{self._comment(6, number)}\n\n"
            yield "| call | takes | gives | |\n|---|---|---|---|\n"
            for place, method in enumerate(service.method):
                gives = f"{'stream of ' if method.server_streaming else ''}`{_short(method.output_type)}`"
                comment = _cell(self._comment(6, number, 2, place))
                yield f"| `{method.name}` | `{_short(method.input_type)}` | {gives} | {comment} |\n"
        for number, message in enumerate(self.file.message_type):
            yield from self._message(message, (4, number), "")
        for number, enum in enumerate(self.file.enum_type):
            yield from self._enum(enum, (5, number), "")

    def _message(self, message: DescriptorProto, path: tuple[int, ...], outer: str) -> Iterator[str]:
        if message.options.map_entry:
            return
        name = f"{outer}{message.name}"
        yield f"\n### {name}\n\n{self._comment(*path)}\n"
        if message.field:
            yield "\n| field | type | |\n|---|---|---|\n"
        for number, field in enumerate(message.field):
            mark = "?" if field.proto3_optional else ""
            comment = _cell(self._comment(*path, 2, number))
            yield f"| `{field.name}{mark}` | {_field_type(field, message)} | {comment} |\n"
        for number, nested in enumerate(message.nested_type):
            yield from self._message(nested, (*path, 3, number), f"{name}.")
        for number, enum in enumerate(message.enum_type):
            yield from self._enum(enum, (*path, 4, number), f"{name}.")

    def _enum(self, enum: EnumDescriptorProto, path: tuple[int, ...], outer: str) -> Iterator[str]:
        yield f"\n### {outer}{enum.name}\n\n{self._comment(*path)}\n\n| value | |\n|---|---|\n"
        for number, value in enumerate(enum.value):
            yield f"| `{value.name}` | {_cell(self._comment(*path, 2, number))} |\n"

    def _comment(self, *path: int) -> str:
        return self.comments.get(path, "").replace("<", "\\<")


def _field_type(field: FieldDescriptorProto, message: DescriptorProto) -> str:
    if field.type_name:
        entry = next(
            (one for one in message.nested_type if field.type_name.endswith(f".{message.name}.{one.name}")), None
        )
        if entry is not None and entry.options.map_entry:
            key, value = (_field_type(part, entry) for part in entry.field)
            return f"map of {key} to {value}"
        name = f"`{_short(field.type_name)}`"
    else:
        name = FieldDescriptorProto.Type.Name(field.type).removeprefix("TYPE_").lower()
    return f"list of {name}" if field.label == FieldDescriptorProto.LABEL_REPEATED else name


def _short(name: str) -> str:
    """A type's name without the package, but for other people's."""
    return name.rpartition(".")[2] if name.startswith(".everfind.") else name.strip(".")


def _code(word: str) -> str:
    return f"`{word}`"


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def pages() -> Iterable[tuple[str, str]]:
    """The pages' names and texts."""
    return (
        ("tools.md", tools_page()),
        ("schema.json", schema_text()),
        ("metrics.md", metrics_page()),
        ("protocol.md", protocol_page()),
    )
