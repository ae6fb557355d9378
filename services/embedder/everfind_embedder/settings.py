"""Which model embeds, and with how many threads."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from everfind_core.errors import ConfigError

if TYPE_CHECKING:
    from everfind_core.ports import Embedder
    from everfind_embedder.loaded import LoadedModel

DEFAULT_MODEL = "default"
DEFAULT_REVISION = "main"
DEFAULT_ENDPOINT = "https://huggingface.co"

_HUB_ID = re.compile(r"(?P<repository>\w[\w.-]*/\w[\w.-]*)(?:@(?P<revision>\w[\w./-]*))?", re.ASCII)
_MODEL_HINT = "Write 'default', a directory's path beginning with '/', '~' or '.', or a hub id such as 'org/name@v1'."


@dataclass(frozen=True, slots=True)
class EmbedderSettings:
    """The embedder's settings.

    ``model`` is ``default``, a directory's path (beginning with ``/``, ``~`` or ``.``), or a hub id
    ``org/name[@revision]``. ``cache_dir`` keeps downloaded models; None is the user's cache directory. ``threads``
    embed at once; 0 follows the process's CPU quota.
    """

    model: str = DEFAULT_MODEL
    hub_endpoint: str = DEFAULT_ENDPOINT
    cache_dir: Path | None = None
    threads: int = 0


def open_embedder(settings: EmbedderSettings) -> Embedder:
    """The embedder that ``settings`` describe. It loads, and downloads if it must, at first use.

    Raises:
        ConfigError: a setting has no meaning.
    """
    from everfind_embedder.engine import OnnxEmbedder
    from everfind_embedder.quota import cpu_quota

    if settings.threads < 0:
        raise ConfigError(f"threads: {settings.threads} is negative", hint="Use 0 to follow the CPU quota.")
    if settings.model != DEFAULT_MODEL and not _is_path(settings.model):
        _hub_reference(settings.model)
    return OnnxEmbedder(lambda: load_model(settings), settings.threads or cpu_quota())


def load_model(settings: EmbedderSettings) -> LoadedModel:
    """Load the model now, in this thread.

    Raises:
        ConfigError: its path or hub id has no meaning.
        ModelUnusableError: it is absent or cannot be used.
        UnavailableError: the hub does not answer.
    """
    if settings.model == DEFAULT_MODEL:
        from everfind_embedder.packaged import load_packaged

        return load_packaged()
    from everfind_embedder.directory import load_directory

    if _is_path(settings.model):
        return load_directory(_expanded(settings.model))
    from everfind_embedder.hub import Hub

    repository, revision = _hub_reference(settings.model)
    directory = Hub(settings.hub_endpoint, settings.cache_dir or _default_cache()).fetch(repository, revision)
    return load_directory(directory, hub_id=repository)


def _hub_reference(model: str) -> tuple[str, str]:
    """Repository and revision of a hub id."""
    match = _HUB_ID.fullmatch(model)
    if match is None:
        raise ConfigError(f"model: {model!r} names no model", hint=_MODEL_HINT)
    return match["repository"], match["revision"] or DEFAULT_REVISION


def _is_path(model: str) -> bool:
    return model.startswith(("/", "~", "."))


def _expanded(path: str) -> Path:
    try:
        return Path(path).expanduser()
    except RuntimeError as error:
        raise ConfigError(f"model: {path!r} is in the home directory of nobody", hint=_MODEL_HINT) from error


def _default_cache() -> Path:
    import platformdirs

    return platformdirs.user_cache_path("everfind") / "models"
