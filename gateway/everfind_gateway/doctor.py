"""Health checks: each looks at one thing and says what it found, with the way out."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from everfind_core.errors import EverfindError, IndexMissingError
from everfind_core.files.disk_use import bytes_below
from everfind_core.folder_rules import is_readable
from everfind_core.model import Filters, HealthFinding, SearchMode, SearchRequest, Severity, WorkspaceStatus
from everfind_core.noise.model_registry import MULTILINGUAL_SUGGESTION, facts_of
from everfind_core.text.numbers import count, size
from everfind_gateway.languages import FOREIGN_WORDS, foreign_language
from everfind_gateway.render.calibration import floor_line
from everfind_gateway.server.served import Served
from everfind_gateway.server.server_health import check_server_asked, check_server_here

if TYPE_CHECKING:
    from everfind_core.ports import Searcher
    from everfind_gateway.config.settings import Settings
    from everfind_gateway.wiring.workspace import OpenWorkspace, Workspace

LOW_DISK_BYTES = 500_000_000
_KNOWN_CHARACTERS = 1_000
_MANY = 80
_LOOKED_AT = 100


def examine(
    load: Callable[[], Settings], open_workspace: OpenWorkspace, *, verify: bool = False
) -> list[HealthFinding]:
    """All checks in order; those that need settings or an index are left out where there are none.

    Where the settings name a server, folders, disk and git are its own to look after. ``verify`` reads each byte of the
    index.
    """
    try:
        settings = load()
    except EverfindError as error:
        return [_failed("settings", error), check_git()]
    findings = [check_settings(settings)]
    if not settings.server:
        findings += [*check_folders(settings), check_git(), check_disk(settings), *check_server_here(settings)]
        findings += [*check_speed(settings), *check_workspaces(settings)]
    with open_workspace(settings) as workspace:
        findings += [check_index(workspace.searcher), check_model(workspace), *check_languages(workspace)]
        try:
            status = workspace.indexer.status(verify=verify, compare=not settings.server)
        except EverfindError as error:
            said = any(one.severity is Severity.ERROR and one.message == error.message for one in findings)
            return findings if said else [*findings, _failed("status", error)]
        if settings.server:
            findings.append(check_server_asked(settings.server, status))
    findings += [*check_floor(status), *status.findings, check_outgoing(settings.server, status)]
    return list(dict.fromkeys(findings))  # the settings and a running server may list the same workspaces


def check_settings(settings: Settings) -> HealthFinding:
    """Whether all settings were understood."""
    files = settings.files
    used = [str(file.path) for file in (files.user, files.project) if file is not None and file.path.exists()]
    if settings.warnings:
        return HealthFinding("settings", Severity.WARNING, "; ".join(settings.warnings), "Correct or remove them.")
    return HealthFinding("settings", Severity.OK, f"read from {', '.join(used)}" if used else "all are defaults")


def check_folders(settings: Settings) -> list[HealthFinding]:
    """Whether there are folders, and each can be read."""
    if not settings.folders:
        return [HealthFinding("folders", Severity.WARNING, "no folder is added", "Add one with `everfind add DIR`.")]
    lost = [
        HealthFinding(
            "folders",
            Severity.ERROR,
            f"{folder.name}: {folder.root} is not a directory that can be read",
            f"Bring it back, or run `everfind remove {folder.name}`.",
        )
        for folder in settings.folders
        if not is_readable(folder.root)
    ]
    return lost or [HealthFinding("folders", Severity.OK, f"{count(len(settings.folders), 'folder')}, all readable")]


def check_git() -> HealthFinding:
    """Whether git is there to say which files of a work tree count."""
    program = shutil.which("git")
    hint = "Install git: without it a git work tree cannot be indexed as git sees it."
    if program is None:
        return HealthFinding("git", Severity.WARNING, "git is not installed", hint)
    try:
        answer = subprocess.run([program, "--version"], capture_output=True, timeout=10, check=True)
    except (OSError, subprocess.SubprocessError):
        return HealthFinding("git", Severity.WARNING, f"{program} does not run", hint)
    return HealthFinding("git", Severity.OK, answer.stdout.decode("utf-8", "replace").strip())


def check_disk(settings: Settings) -> HealthFinding:
    """Whether the index directory can be written, and has room."""
    place = _nearest_existing(settings.index_dir)
    if not os.access(place, os.W_OK | os.X_OK):
        hint = "Check its owner and mode, or set `index_dir` elsewhere."
        return HealthFinding("disk", Severity.ERROR, f"{settings.index_dir} cannot be written", hint)
    free = shutil.disk_usage(place).free
    kept = f"; vectors kept for reuse take {size(bytes_below(settings.vector_cache_dir))}"
    message = f"{size(free)} free for {settings.index_dir}{kept}"
    if free < LOW_DISK_BYTES:
        return HealthFinding("disk", Severity.WARNING, message, "Free some space, or set `index_dir` to another disk.")
    return HealthFinding("disk", Severity.OK, message)


def check_index(searcher: Searcher) -> HealthFinding:
    """Whether there is an index, and both of its arms really answer: a search by meaning, one by its hit's words."""
    nearest = SearchRequest(
        "everfind", 1, SearchMode.SEMANTIC, Filters(all_statuses=True), min_score=-1.0, relative_cutoff=0.0
    )
    try:
        answer = searcher.search(nearest)
        known = [f"{hit.path} {hit.text}"[:_KNOWN_CHARACTERS] for hit in answer.hits] or [nearest.query]
        searcher.search(replace(nearest, query=known[0], mode=SearchMode.LEXICAL, min_score=None, relative_cutoff=None))
    except EverfindError as error:
        missing = isinstance(error, IndexMissingError)
        return _failed("index", error, Severity.WARNING if missing else Severity.ERROR)
    found = answer.coverage
    return HealthFinding(
        "index", Severity.OK, f"{count(found.files, 'file')}, {count(found.chunks, 'chunk')} searchable"
    )


def check_model(workspace: Workspace) -> HealthFinding:
    """Whether the embedding model can be loaded, and which one it is."""
    try:
        model = workspace.embedder.model()
    except EverfindError as error:
        return _failed("model", error)
    variant = f", {model.variant}" if model.variant else ""
    what = f"{model.id}{variant}, {model.dimensions} dimensions"
    if (facts := facts_of(model.id)) is None:
        hint = "Compare its prefixes, pooling and window (`everfind status --json`) with what its publisher says."
        return HealthFinding("model", Severity.WARNING, f"{what}; nobody verified this model with everfind", hint)
    return HealthFinding("model", Severity.OK, f"{what}; known from: {facts.source}")


def check_speed(settings: Settings) -> list[HealthFinding]:
    """Whether it was measured how this machine embeds fastest, and what came of it; nothing if a provider embeds."""
    from everfind_gateway.wiring.local import embeds_here, tuning_in_use

    try:
        found = tuning_in_use(settings)
        if not embeds_here(settings):
            return []
    except EverfindError:
        return []  # said by the check of the model
    if found is None:
        safe = "embedding goes by safe defaults; `everfind doctor --tune` measures what is fastest"
        return [HealthFinding("speed", Severity.OK, safe)]
    on = datetime.fromtimestamp(found.measured, UTC).date()
    how = f"{count(settings.threads or found.threads, 'thread')}, runs of {found.run_tokens} tokens"
    if not found.steady:
        hint = "Run `everfind doctor --tune` when nothing else runs."
        message = f"{how}, the defaults: on {on} the machine was too busy to tell what is faster"
        return [HealthFinding("speed", Severity.OK, message, hint)]
    gain = found.speed / found.default_speed - 1
    than = f"{gain:.0%} more than by default" if gain else "the defaults are the fastest"
    return [HealthFinding("speed", Severity.OK, f"{how}: {found.speed:,.0f} tokens a second on {on}; {than}")]


def check_workspaces(settings: Settings) -> list[HealthFinding]:
    """Whether those that the setting `workspaces` lists one by one can be used; nothing to say if it lists none."""
    if not settings.workspaces:
        return []
    try:
        served = Served(settings.workspaces)
    except EverfindError as error:
        return [_failed("workspace", error)]
    listed = count(len(served.listed()), "workspace")
    usable = HealthFinding(
        "workspace", Severity.OK, f"{listed} listed by themselves, all with settings that can be used"
    )
    return [finding for _, finding in served.findings()] or [usable]


def check_floor(status: WorkspaceStatus) -> list[HealthFinding]:
    """What keeps noise out of answers, and where that comes from; nothing to say before the first run."""
    if status.model is None:
        return []
    if status.floor is None:
        hint = "Index more and run `everfind calibrate`, or set `min_score`."
        return [HealthFinding("floor", Severity.WARNING, "no floor is known: nothing keeps noise out of answers", hint)]
    return [HealthFinding("floor", Severity.OK, floor_line(status.floor))]


def check_languages(workspace: Workspace) -> list[HealthFinding]:
    """Whether much of the index is in a language that the model was not trained on; nothing to say if not."""
    try:
        facts = facts_of(workspace.embedder.model().id)
        if facts is None or facts.multilingual:
            return []
        asked = [SearchRequest(words, _LOOKED_AT, SearchMode.LEXICAL) for words in FOREIGN_WORDS]
        answers = [workspace.searcher.search(request) for request in asked]
    except EverfindError:
        return []  # said by the checks of model and index
    chunks = answers[0].coverage.chunks
    texts = {hit.chunk_id: hit.text for answer in answers for hit in answer.hits}
    languages = Counter(filter(None, map(foreign_language, texts.values())))
    found = languages.total()
    if not found or found < min(_MANY, chunks / 10):
        return []
    named = ", ".join(name for name, _ in languages.most_common(3))
    message = (
        f"{found:,} or more of {count(chunks, 'chunk')} are in {named}: "
        f"{facts.id} does not know that, and they are found by their words alone"
    )
    hint = f"Set `model` to a multilingual one, such as {MULTILINGUAL_SUGGESTION}, and run `everfind index --rebuild`."
    return [HealthFinding("languages", Severity.WARNING, message, hint)]


def check_outgoing(server: str, status: WorkspaceStatus) -> HealthFinding:
    """What leaves the machine; ``server`` is the one that is asked, if any."""
    hint = "Your own settings ask for it."
    if server:
        beyond = f"; the server sends on {'; '.join(status.outgoing)}" if status.outgoing else ""
        return HealthFinding("outgoing", Severity.WARNING, f"what you ask goes to {server}{beyond}", hint)
    if not status.outgoing:
        return HealthFinding("outgoing", Severity.OK, "nothing leaves this machine")
    return HealthFinding("outgoing", Severity.WARNING, "; ".join(status.outgoing), hint)


def _failed(check: str, error: EverfindError, severity: Severity = Severity.ERROR) -> HealthFinding:
    return HealthFinding(check, severity, error.message, error.hint)


def _nearest_existing(path: Path) -> Path:
    return next(p for p in (path, *path.parents) if p.exists())
