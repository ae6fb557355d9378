"""What the configuration files of a sentence-transformers model say.

Read are ``modules.json``, the pooling module's ``config.json``, ``sentence_bert_config.json``,
``config_sentence_transformers.json``, ``config.json`` and ``tokenizer_config.json``; all but the graph and
``tokenizer.json`` may be absent, and then sentence-transformers' own defaults stand.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from everfind_core.causes import cause
from everfind_core.errors import ModelUnusableError
from everfind_core.files.parsed_json import parse_json
from everfind_embedder.encoder import Pooling

GRAPH_FILES = ("onnx/model.onnx", "model.onnx")
TOKENIZER_FILE = "tokenizer.json"
MODULES_FILE = "modules.json"
CONFIG_FILES = (
    MODULES_FILE,
    "sentence_bert_config.json",
    "config_sentence_transformers.json",
    "config.json",
    "tokenizer_config.json",
)
DEFAULT_WINDOW = 512

_POOLINGS = {
    "mean": Pooling.MEAN,
    "mean_tokens": Pooling.MEAN,
    "mean_sqrt_len_tokens": Pooling.MEAN,
    "cls": Pooling.CLS,
    "cls_token": Pooling.CLS,
    "lasttoken": Pooling.LAST,
}
"""Names of old and new configurations. The mean over the root of the length differs from the mean in length only,
which normalisation removes."""

_PADDED_POSITIONS = frozenset({"roberta", "xlm-roberta", "camembert", "mpnet"})
"""Architectures whose first positions are reserved, so that two of ``max_position_embeddings`` are never used."""

Config = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ModelLayout:
    """Files and settings of a model. ``extra_modules`` are pipeline steps that only an exported graph can do."""

    directory: Path
    graph: Path
    tokenizer: Path
    max_tokens: int
    pooling: Pooling
    document_prefix: str
    query_prefix: str
    extra_modules: tuple[str, ...]


def read_layout(directory: Path) -> ModelLayout:
    """The layout of the model in ``directory``.

    Raises:
        ModelUnusableError: it is no directory, a needed file is missing, or a configuration file makes no sense.
    """
    if not directory.is_dir():
        raise _unusable(directory, "is not a directory")
    modules = _module_paths(_read_json(directory / MODULES_FILE, expected=list))
    prompts = _read_json(directory / "config_sentence_transformers.json")
    return ModelLayout(
        directory=directory,
        graph=_find_file(directory, GRAPH_FILES),
        tokenizer=_find_file(directory, (TOKENIZER_FILE,)),
        max_tokens=_window(directory),
        pooling=_pooling(directory, modules),
        document_prefix=_prompt(prompts, "document", "passage"),
        query_prefix=_prompt(prompts, "query"),
        extra_modules=tuple(kind for kind in modules if kind not in ("Transformer", "Pooling", "Normalize")),
    )


def pooling_config_path(modules: object) -> str:
    """Where the pooling module's configuration lies, relative to the model; empty if there is none.

    ``modules`` is the content of ``modules.json``.
    """
    for kind, path in _module_paths(modules).items():
        if kind == "Pooling":
            return f"{path}/config.json"
    return ""


def _module_paths(modules: object) -> dict[str, str]:
    """Each module's class name and clean relative directory."""
    found: dict[str, str] = {}
    for module in modules if isinstance(modules, list) else []:
        kind, path = str(module.get("type", "")).rpartition(".")[2], str(module.get("path", ""))
        if PurePosixPath(path).is_absolute() or ".." in PurePosixPath(path).parts:
            raise ModelUnusableError(f"modules.json points outside the model: {path!r}", hint="Do not use this model.")
        found[kind] = path
    return found


def _pooling(directory: Path, modules: Mapping[str, str]) -> Pooling:
    if "Pooling" not in modules:
        return Pooling.MEAN
    path = directory / modules["Pooling"] / "config.json"
    modes = _pooling_modes(_read_json(path))
    if len(modes) > 1 or modes[0] not in _POOLINGS:
        raise _unusable(path, f"asks for a pooling that everfind does not have: {', '.join(modes)}")
    return _POOLINGS[modes[0]]


def _pooling_modes(config: Config) -> list[str]:
    """One name in new configurations, a switch for each in old ones, and the mean where neither is set."""
    if "pooling_mode" in config:
        return [str(config["pooling_mode"])]
    prefix = "pooling_mode_"
    return [key.removeprefix(prefix) for key, on in config.items() if key.startswith(prefix) and on] or ["mean"]


def _window(directory: Path) -> int:
    """Tokens of the window: what sentence-transformers is told, never more than there are positions."""
    config = _read_json(directory / "config.json")
    positions = config.get("max_position_embeddings")
    if isinstance(positions, int) and config.get("model_type") in _PADDED_POSITIONS:
        positions -= 2
    candidates = (
        _read_json(directory / "sentence_bert_config.json").get("max_seq_length"),
        _read_json(directory / "tokenizer_config.json").get("model_max_length"),
    )
    stated = next((value for value in candidates if isinstance(value, int)), None)
    limits = [value for value in (stated, positions) if isinstance(value, int) and value > 0]
    return min(limits, default=DEFAULT_WINDOW)


def _prompt(config: Config, *names: str) -> str:
    prompts = config.get("prompts") or {}
    chosen = next((name for name in names if prompts.get(name)), config.get("default_prompt_name"))
    return str(prompts.get(chosen) or "")


def _find_file(directory: Path, names: tuple[str, ...]) -> Path:
    for name in names:
        if (directory / name).is_file():
            return directory / name
    raise ModelUnusableError(
        f"the model in {directory} has no {' and no '.join(names)}",
        hint="Use a sentence-transformers model with an ONNX export and a tokenizer.json.",
        details={"path": str(directory)},
    )


def _read_json(path: Path, expected: type = dict) -> Any:
    """The content of a configuration file; empty if there is no such file."""
    try:
        content = parse_json(path.read_bytes())
    except (FileNotFoundError, NotADirectoryError):
        return expected()
    except (OSError, ValueError) as error:
        raise _unusable(path, f"cannot be read: {cause(error)}") from error
    if not isinstance(content, expected):
        raise _unusable(path, "does not have the form that sentence-transformers writes")
    return content


def _unusable(path: Path, what: str) -> ModelUnusableError:
    return ModelUnusableError(
        f"{path} {what}",
        hint="Configure the directory of a sentence-transformers model with an ONNX export.",
        details={"path": str(path)},
    )
