"""Which models embed and rerank, where they run, and with how many threads."""

from __future__ import annotations

import re
import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from everfind_core.errors import ConfigError, StorageError
from everfind_core.tuning import Tuning, read_tuning, write_tuning

if TYPE_CHECKING:
    from everfind_core.cancellation import Cancellation
    from everfind_core.ports import Embedder, Reranker
    from everfind_embedder.cross_encoder import CrossEncoder
    from everfind_embedder.loading.loaded import LoadedModel

DEFAULT_MODEL = "default"
DEFAULT_REVISION = "main"
DEFAULT_ENDPOINT = "https://huggingface.co"

_HUB_ID = re.compile(r"(?P<repository>\w[\w.-]*/\w[\w.-]*)(?:@(?P<revision>\w[\w./-]*))?", re.ASCII)
_PROVIDED = re.compile(r"(?P<provider>[a-z]+):(?P<name>\S+)")
_MODEL_HINT = (
    "Write 'default', a directory's path beginning with '/', '~' or '.', a hub id such as 'org/name@v1', or a "
    "provider's model such as 'voyage:voyage-code-3'."
)


@dataclass(frozen=True, slots=True)
class EmbedderSettings:
    """The embedder's settings.

    ``model`` is ``default``, a directory's path (beginning with ``/``, ``~`` or ``.``), a hub id
    ``org/name[@revision]``, or a provider's model ``voyage:NAME``, ``openai:NAME`` or ``ollama:NAME``. ``cache_dir``
    keeps downloaded models; None is the user's cache directory. ``threads`` embed at once; 0 follows the process's CPU
    quota. ``endpoint`` is where the provider answers (empty: its own address), ``key`` the token it wants, ``window``
    the tokens that a text may have there (0: as the provider says). Calls are refused while more than
    ``waiting_tokens`` wait to be embedded here (0: never). Documents are embedded ``documents_nice`` steps below the
    process's priority. ``tuning`` is the file of what was measured to be fastest here, used where nothing else is said.
    """

    model: str = DEFAULT_MODEL
    hub_endpoint: str = DEFAULT_ENDPOINT
    cache_dir: Path | None = None
    threads: int = 0
    endpoint: str = ""
    key: str = field(default="", repr=False)
    window: int = 0
    waiting_tokens: int = 0
    documents_nice: int = 0
    tuning: Path | None = None


@dataclass(frozen=True, slots=True)
class RerankerSettings:
    """The reranker's settings.

    ``model`` is a directory's path, a hub id, or ``voyage:NAME`` or ``cohere:NAME``; empty is none. ``budget`` seconds
    bound a provider's answer, ``interval`` seconds lie between two calls of it at least; the rest as in
    :class:`EmbedderSettings`.
    """

    model: str = ""
    hub_endpoint: str = DEFAULT_ENDPOINT
    cache_dir: Path | None = None
    threads: int = 0
    endpoint: str = ""
    key: str = field(default="", repr=False)
    budget: float = 10.0
    interval: float = 0.0


def open_embedder(settings: EmbedderSettings) -> Embedder:
    """The embedder that ``settings`` describe. It loads, and downloads if it must, at first use.

    Raises:
        ConfigError: a setting has no meaning.
    """
    if settings.threads < 0:
        raise ConfigError(f"threads: {settings.threads} is negative", hint="Use 0 to follow the CPU quota.")
    if provided := _provided(settings.model):
        return _open_provider(settings, *provided)
    from everfind_core.cpu_quota import cpu_quota
    from everfind_embedder.engine import OnnxEmbedder

    if settings.model != DEFAULT_MODEL and not _is_path(settings.model):
        _hub_reference(settings.model)
    tuned = tuning_for(settings)
    return OnnxEmbedder(
        lambda: _tuned(load_model(settings), tuned),
        settings.threads or (tuned.threads if tuned else cpu_quota()),
        waiting_tokens=settings.waiting_tokens or None,
        documents_nice=settings.documents_nice,
    )


def open_reranker(settings: RerankerSettings) -> Reranker | None:
    """The reranker that ``settings`` describe; None where they name none. It loads at first use.

    Raises:
        ConfigError: a setting has no meaning.
    """
    if not settings.model:
        return None
    if provided := _provided(settings.model):
        from everfind_embedder.providers.reranking import WIRES, ProviderReranker
        from everfind_rpc.json_api import ApiEndpoint, JsonApi

        provider, name = _known(provided, WIRES, "reranker")
        endpoint = ApiEndpoint(settings.endpoint or WIRES[provider].url, settings.key, settings.interval)
        api = JsonApi(endpoint.checked("reranker_endpoint"))
        return ProviderReranker(provider, name, api, budget=settings.budget)
    from everfind_core.cpu_quota import cpu_quota
    from everfind_embedder.cross_encoder import LocalReranker, load_cross_encoder

    if not _is_path(settings.model):
        _hub_reference(settings.model)
    source = EmbedderSettings(settings.model, settings.hub_endpoint, settings.cache_dir)

    def load() -> CrossEncoder:
        directory, hub_id = _model_directory(source)
        return load_cross_encoder(directory, hub_id=hub_id)

    return LocalReranker(load, settings.threads or cpu_quota())


def load_model(settings: EmbedderSettings) -> LoadedModel:
    """Load the model now, in this thread.

    Raises:
        ConfigError: its path or hub id has no meaning.
        ModelUnusableError: it is absent or cannot be used.
        UnavailableError: the hub does not answer.
    """
    if settings.model == DEFAULT_MODEL:
        from everfind_embedder.loading.packaged import load_packaged

        return load_packaged()
    from everfind_embedder.loading.directory import load_directory

    directory, hub_id = _model_directory(settings)
    return load_directory(directory, hub_id=hub_id)


def embeds_here(settings: EmbedderSettings) -> bool:
    """Whether the model runs on this machine, and not at a provider's."""
    return _provided(settings.model) is None


def tuning_for(settings: EmbedderSettings) -> Tuning | None:
    """What was measured for this model on this machine and the CPUs that this process may use; None if nothing was."""
    from everfind_core.cpu_quota import cpu_quota
    from everfind_embedder.processor import processor_name

    found = read_tuning(settings.tuning) if settings.tuning else None
    return found if found and found.fits(settings.model, processor_name(), cpu_quota()) else None


def tune(settings: EmbedderSettings, cancel: Cancellation | None = None) -> Tuning:
    """Measure what is fastest for this model on this machine, in about twenty seconds, and keep it in the file.

    Raises:
        ConfigError: the model is a provider's, or no file is named.
        ModelUnusableError, UnavailableError: as :func:`load_model`.
        StorageError: the file cannot be written.
    """
    if not embeds_here(settings) or settings.tuning is None:
        raise ConfigError(
            f"{settings.model} does not embed on this machine, so there is nothing to tune",
            hint="Set `model` to one that runs here.",
        )
    tuning = _measured(settings, cancel)
    try:
        write_tuning(settings.tuning, tuning)
    except OSError as error:
        raise StorageError(
            f"{settings.tuning} cannot be written: {error.strerror}",
            hint="Check the directory's owner, mode and space.",
        ) from error
    return tuning


def _measured(settings: EmbedderSettings, cancel: Cancellation | None) -> Tuning:
    """What is fastest for the model on the CPUs that this process may use."""
    from everfind_core.cpu_quota import cpu_quota
    from everfind_embedder.processor import processor_name
    from everfind_embedder.tuning import measure

    cpus = cpu_quota()
    found = measure(load_model(settings), cpus, cancel=cancel)
    return Tuning(
        model=settings.model,
        processor=processor_name(),
        cpus=cpus,
        threads=found.best.threads,
        run_tokens=found.best.run_tokens,
        speed=found.speed,
        default_speed=found.default_speed,
        measured=time.time(),
        steady=found.steady,
    )


def _tuned(model: LoadedModel, tuned: Tuning | None) -> LoadedModel:
    """``model`` with the runs that were measured; one whose runs hold one text each keeps to that."""
    return replace(model, run_tokens=tuned.run_tokens) if tuned and model.run_tokens > 1 else model


def _model_directory(settings: EmbedderSettings) -> tuple[Path, str]:
    """The directory of a model that is not the default one, downloaded if it must be, and its hub id if it has one."""
    if _is_path(settings.model):
        return _expanded(settings.model), ""
    from everfind_embedder.loading.hub import Hub

    repository, revision = _hub_reference(settings.model)
    hub = Hub(settings.hub_endpoint, settings.cache_dir or _default_cache())
    return hub.fetch(repository, revision), repository


def _open_provider(settings: EmbedderSettings, provider: str, name: str) -> Embedder:
    from everfind_embedder.providers.embedding import WIRES, ProviderEmbedder
    from everfind_rpc.json_api import ApiEndpoint, JsonApi

    provider, name = _known((provider, name), WIRES, "model")
    endpoint = ApiEndpoint(settings.endpoint or WIRES[provider].url, settings.key).checked("model_endpoint")
    return ProviderEmbedder(provider, name, JsonApi(endpoint), concurrency=settings.threads, window=settings.window)


def _provided(model: str) -> tuple[str, str] | None:
    """Provider and name of a provider's model; None for any other."""
    match = _PROVIDED.fullmatch(model)
    return (match["provider"], match["name"]) if match else None


def _known(provided: tuple[str, str], providers: Mapping[str, object], setting: str) -> tuple[str, str]:
    if provided[0] not in providers:
        raise ConfigError(
            f"{setting}: no provider is called {provided[0]!r}", hint=f"There are {', '.join(providers)}."
        )
    return provided


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
