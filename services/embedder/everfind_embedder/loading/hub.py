"""Downloads a model from a hub that speaks the Hugging Face API, once, into a cache directory.

Cache layout: ``<cache>/<org>--<name>/<commit>/`` holds a complete model, ``<commit>.partial/`` one under way, and
``refs/<revision>`` the commit that a branch or tag meant when it was first asked for. So a configured model stays the
same until its cache is deleted, and needs no network once it is there.
"""

from __future__ import annotations

import fcntl
import hashlib
import re
import ssl
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from http.client import HTTPException, HTTPResponse
from pathlib import Path, PurePosixPath
from typing import Any, Protocol
from urllib.error import HTTPError, URLError
from urllib.parse import quote, urlsplit
from urllib.request import Request, build_opener

from everfind_core.causes import cause
from everfind_core.errors import (
    ConfigError,
    EverfindError,
    ModelUnusableError,
    StorageError,
    StorageFullError,
    UnavailableError,
)
from everfind_core.files.parsed_json import OTHER_SHAPE, parse_json
from everfind_core.files.whole import is_disk_full
from everfind_embedder.loading.layout import (
    CONFIG_FILES,
    GRAPH_FILES,
    MODULES_FILE,
    TOKENIZER_FILE,
    pooling_config_path,
)

TIMEOUT_SECONDS = 30.0
BLOCK_BYTES = 1 << 20
ATTEMPTS = 3

_COMMIT = re.compile(r"[0-9a-f]{40}")
_BROKEN_CONNECTION = (HTTPException, ConnectionError, TimeoutError, ssl.SSLError)
_OFFLINE_HINT = (
    "Check the network, the proxy settings and the hub endpoint, or download the model and configure its directory."
)


class _Hasher(Protocol):
    def update(self, data: bytes, /) -> None: ...

    def hexdigest(self) -> str: ...


@dataclass(frozen=True, slots=True)
class RemoteFile:
    """A file of a model repository. The hub gives a SHA-256 for large files, and git's SHA-1 for all others."""

    path: str
    size: int | None
    sha256: str
    git_sha1: str

    def mismatch(self, content: Path) -> str:
        """What is wrong with the downloaded ``content``; empty if nothing is."""
        if not content.exists():
            return "it is absent"
        found_size = content.stat().st_size
        if self.size is not None and found_size != self.size:
            return f"it has {found_size} bytes, expected {self.size}"
        expected = self.sha256 or self.git_sha1
        if not expected:
            return ""
        found = _digest(content, hashlib.sha256() if self.sha256 else _git_blob_hasher(found_size))
        return "" if found == expected else f"its digest is {found}, expected {expected}"


class Hub:
    """One hub and its cache on this machine. Proxies are those of the environment (``HTTPS_PROXY``, ``NO_PROXY``)."""

    def __init__(self, endpoint: str, cache: Path) -> None:
        """Use the hub at ``endpoint`` (an http or https URL).

        Raises:
            ConfigError: ``endpoint`` is no such URL.
        """
        parts = urlsplit(endpoint)
        if parts.scheme not in ("http", "https") or not parts.netloc:
            raise ConfigError(
                f"hub_endpoint: {endpoint!r} is not an http or https address",
                hint="Write it as https://host, without a path of a model.",
            )
        self._endpoint = endpoint.rstrip("/")
        self._cache = cache
        self._opener = build_opener()

    def fetch(self, repository: str, revision: str) -> Path:
        """The directory of the model ``repository`` (``org/name``) at ``revision`` (branch, tag or commit).

        Raises:
            ModelUnusableError: the hub has no such model, it lacks a needed file, or a file arrived damaged.
            UnavailableError: the hub does not answer.
            StorageError: the cache cannot be written.
        """
        home = self._cache / repository.replace("/", "--")
        with _storage_errors(home):
            cached = _cached(home, revision)
            if cached is not None:
                return cached
            home.mkdir(parents=True, exist_ok=True)
            with (home / "lock").open("w") as lock:
                fcntl.flock(lock, fcntl.LOCK_EX)
                return _cached(home, revision) or self._download(home, repository, revision)

    def _download(self, home: Path, repository: str, revision: str) -> Path:
        commit, files = self._list(repository, revision)
        complete = home / commit
        if not complete.is_dir():
            partial = home / f"{commit}.partial"
            self._get_all(partial, repository, commit, _wanted(files, CONFIG_FILES))
            pooling = pooling_config_path(_read_modules(partial / MODULES_FILE))
            self._get_all(partial, repository, commit, _wanted(files, [pooling, *_model_files(files, repository)]))
            partial.rename(complete)
        _write_ref(home, revision, commit)
        return complete

    def _list(self, repository: str, revision: str) -> tuple[str, dict[str, RemoteFile]]:
        """The commit that ``revision`` means, and its files by path."""
        url = f"{self._endpoint}/api/models/{repository}/revision/{quote(revision, safe='')}?blobs=true"
        with self._open(url, repository) as response:
            try:
                answer = parse_json(response.read())
                commit = str(answer["sha"])
                files = [_remote_file(sibling) for sibling in answer["siblings"]]
            except (*OTHER_SHAPE, *_BROKEN_CONNECTION) as error:
                raise UnavailableError(f"{url} did not answer as a model hub does", hint=_OFFLINE_HINT) from error
        if not _COMMIT.fullmatch(commit):
            raise UnavailableError(f"{url} did not answer with a commit", hint=_OFFLINE_HINT)
        return commit, {file.path: file for file in files}

    def _get_all(self, target: Path, repository: str, commit: str, files: Sequence[RemoteFile]) -> None:
        for file in files:
            destination = target / file.path
            if not destination.exists():
                url = f"{self._endpoint}/{repository}/resolve/{commit}/{quote(file.path)}"
                destination.parent.mkdir(parents=True, exist_ok=True)
                self._get(url, repository, file, destination)

    def _get(self, url: str, repository: str, file: RemoteFile, destination: Path) -> None:
        """One file: resumed where an earlier attempt broke off, checked, and only then given its name."""
        part = destination.with_name(destination.name + ".part")
        problem = file.mismatch(part)
        for _ in range(ATTEMPTS):
            if not problem:
                break
            if part.exists() and (file.size is None or part.stat().st_size >= file.size):
                part.unlink()
            self._append(url, repository, part)
            problem = file.mismatch(part)
        if not problem:
            part.replace(destination)
        elif file.size is not None and _size(part) < file.size:
            raise UnavailableError(
                f"the download of {url} broke off {ATTEMPTS} times, at last after {_size(part)} of {file.size} bytes",
                hint="Try again: it goes on where it stopped.",
                details={"url": url},
            )
        else:
            raise ModelUnusableError(
                f"{file.path} of the model {repository} arrived damaged: {problem}",
                hint="Try again; if it stays so, the hub or a proxy on the way changes files.",
                details={"url": url},
            )

    def _append(self, url: str, repository: str, part: Path) -> None:
        """Add what is missing of ``url`` to ``part``; a connection that breaks leaves what has arrived."""
        have = _size(part)
        headers = {"Range": f"bytes={have}-"} if have else {}
        try:
            with self._open(url, repository, headers) as response, part.open("ab") as output:
                if response.status != 206:
                    output.truncate(0)
                while block := response.read(BLOCK_BYTES):
                    output.write(block)
        except _BROKEN_CONNECTION:
            return

    @contextmanager
    def _open(self, url: str, repository: str, headers: Mapping[str, str] | None = None) -> Iterator[HTTPResponse]:
        request = Request(url, headers={"User-Agent": "everfind", **(headers or {})})  # noqa: S310 - scheme checked above
        try:
            response: HTTPResponse = self._opener.open(request, timeout=TIMEOUT_SECONDS)
        except HTTPError as error:
            with error:
                raise _refusal(error.code, url, repository) from error
        except (URLError, HTTPException, OSError, ValueError) as error:
            reason = getattr(error, "reason", error)
            raise UnavailableError(
                f"the model hub does not answer at {url}: {reason}", hint=_OFFLINE_HINT, details={"url": url}
            ) from error
        with response:
            yield response


def _cached(home: Path, revision: str) -> Path | None:
    """The complete model in the cache, if there is one."""
    if _COMMIT.fullmatch(revision):
        commit = revision
    else:
        ref = _ref_file(home, revision)
        commit = ref.read_text().strip() if ref.is_file() else ""
    directory = home / commit
    return directory if _COMMIT.fullmatch(commit) and directory.is_dir() else None


def _write_ref(home: Path, revision: str, commit: str) -> None:
    ref = _ref_file(home, revision)
    ref.parent.mkdir(exist_ok=True)
    draft = ref.with_name(ref.name + ".new")
    draft.write_text(commit + "\n")
    draft.replace(ref)


def _ref_file(home: Path, revision: str) -> Path:
    return home / "refs" / quote(revision, safe="")


def _wanted(files: Mapping[str, RemoteFile], names: Sequence[str]) -> list[RemoteFile]:
    return [files[name] for name in names if name in files]


def _model_files(files: Mapping[str, RemoteFile], repository: str) -> list[str]:
    """The tokenizer, the preferred graph, and the files beside it that hold its data."""
    graph = next((name for name in GRAPH_FILES if name in files), None)
    if graph is None or TOKENIZER_FILE not in files:
        lacks = TOKENIZER_FILE if graph else f"ONNX export ({' or '.join(GRAPH_FILES)})"
        raise ModelUnusableError(
            f"the model {repository} has no {lacks}",
            hint="Choose a model with an ONNX export, or export it and configure the directory.",
        )
    stem = graph.removesuffix(".onnx")
    data = [name for name in files if name.startswith((f"{stem}.onnx_data", f"{stem}.onnx.data", f"{stem}.data"))]
    return [TOKENIZER_FILE, graph, *sorted(data)]


def _read_modules(path: Path) -> object:
    try:
        content: object = parse_json(path.read_bytes())
    except FileNotFoundError:
        return []
    except (OSError, ValueError) as error:
        raise ModelUnusableError(f"{path} cannot be read: {cause(error)}", hint="Choose another model.") from error
    return content


def _remote_file(sibling: Mapping[str, Any]) -> RemoteFile:
    path = PurePosixPath(sibling["rfilename"])
    if path.is_absolute() or ".." in path.parts:
        raise ValueError(path)
    lfs = sibling.get("lfs") or {}
    size = sibling.get("size")
    return RemoteFile(
        path=str(path),
        size=size if isinstance(size, int) else None,
        sha256=str(lfs.get("sha256", "")),
        git_sha1="" if lfs else str(sibling.get("blobId") or ""),
    )


def _refusal(status: int, url: str, repository: str) -> EverfindError:
    if status in (401, 403, 404):
        return ModelUnusableError(
            f"the hub has no public model {repository} at this revision (HTTP {status} from {url})",
            hint="Check the id and the revision; a directory's path begins with '/', '~' or '.'.",
            details={"url": url},
        )
    return UnavailableError(f"the model hub answered HTTP {status} at {url}", hint=_OFFLINE_HINT, details={"url": url})


def _size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0


def _git_blob_hasher(size: int) -> _Hasher:
    """Git names a file's content so; it is no security measure."""
    return hashlib.sha1(f"blob {size}\0".encode(), usedforsecurity=False)


def _digest(path: Path, hasher: _Hasher) -> str:
    with path.open("rb") as file:
        while block := file.read(BLOCK_BYTES):
            hasher.update(block)
    return hasher.hexdigest()


@contextmanager
def _storage_errors(home: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        kind = StorageFullError if is_disk_full(error) else StorageError
        raise kind(
            f"the model cache {home} cannot be written: {error.strerror or error}",
            hint="Free space or configure another cache directory for models.",
            details={"path": str(home)},
        ) from error
