"""Calls to the JSON API of a provider that a user has configured: paced, retried, bounded, and cancellable.

Proxies are those of the environment (``HTTPS_PROXY``, ``NO_PROXY``). Redirects are not followed: what is sent goes to
the configured address and nowhere else.
"""

from __future__ import annotations

import os
import random
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

from everfind_core.cancellation import Cancellation
from everfind_core.errors import ConfigError, EverfindError, ModelUnusableError, UnavailableError
from everfind_core.files.parsed_json import parse_json
from everfind_rpc.hosts import is_loopback

RETRIED: Final = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 529})
"""Answers that another attempt may change."""
ATTEMPTS: Final = 5
TIMEOUT_SECONDS: Final = 60.0
FIRST_PAUSE: Final = 0.5
LONGEST_PAUSE: Final = 30.0
SHOWN_CHARACTERS: Final = 200


@dataclass(frozen=True, slots=True)
class ApiEndpoint:
    """Where a provider's API answers.

    ``url`` is the start of all its addresses, ``key`` a bearer token (empty: none), ``interval`` seconds that lie
    between two calls at least.
    """

    url: str
    key: str = field(default="", repr=False)
    interval: float = 0.0

    def checked(self, setting: str) -> ApiEndpoint:
        """This endpoint, if it can be used; ``setting`` names it in errors.

        Raises:
            ConfigError: it is no http or https address, or would send the key in the clear to another machine.
        """
        parts = urlsplit(self.url)
        if parts.scheme not in ("http", "https") or not parts.hostname or parts.query or parts.fragment:
            raise ConfigError(
                f"{setting}: {self.url!r} is not an http or https address", hint="Write it as https://HOST/PATH."
            )
        if self.key and parts.scheme == "http" and not is_loopback(parts.hostname):
            raise ConfigError(
                f"{setting}: a key would go to {parts.hostname} in the clear", hint="Use its https address."
            )
        return ApiEndpoint(self.url.rstrip("/"), self.key, self.interval)


class JsonApi:
    """One provider. Thread-safe; calls of several threads run at once, but never closer than the interval."""

    def __init__(self, endpoint: ApiEndpoint) -> None:
        self.endpoint = endpoint
        self._guard = threading.Lock()
        self._next = 0.0
        self._client: Any = None

    def post(
        self, path: str, body: Mapping[str, Any], *, budget: float | None = None, cancel: Cancellation | None = None
    ) -> Mapping[str, Any]:
        """The object that the provider answers to ``body`` at ``path``, within ``budget`` seconds (None: no bound).

        Raises:
            ModelUnusableError: it refuses the key or the request.
            UnavailableError: it does not answer as it should, after all attempts or within the budget.
        """
        wait = cancel or Cancellation()
        ends = None if budget is None else time.monotonic() + budget
        problem: EverfindError | None = None
        for attempt in range(ATTEMPTS):
            self._pace(wait)
            left = TIMEOUT_SECONDS if ends is None else ends - time.monotonic()
            if left <= 0:
                break
            answer, problem, pause = self._try(path, body, min(left, TIMEOUT_SECONDS), attempt)
            if answer is not None:
                return answer
            if ends is not None and time.monotonic() + pause >= ends:
                break
            if attempt + 1 < ATTEMPTS:
                wait.wait(pause)
        raise problem or UnavailableError(
            f"{self.endpoint.url} did not answer within {budget:g} s", hint="Try again, or allow it more time."
        )

    def close(self) -> None:
        """Close its connections."""
        with self._guard:
            client, self._client = self._client, None
        if client is not None:
            client.close()

    def _pace(self, wait: Cancellation) -> None:
        if not self.endpoint.interval:
            return
        with self._guard:
            now = time.monotonic()
            start = max(now, self._next)
            self._next = start + self.endpoint.interval
        wait.wait(start - now)

    def _try(
        self, path: str, body: Mapping[str, Any], seconds: float, attempt: int
    ) -> tuple[Mapping[str, Any] | None, EverfindError | None, float]:
        """An attempt: the answer, or why there is none and how long to wait for the next."""
        import httpx2

        pause = min(LONGEST_PAUSE, FIRST_PAUSE * 2**attempt) * random.uniform(0.75, 1.25)  # noqa: S311 - spreads calls
        try:
            response = self._opened().post(f"{self.endpoint.url}{path}", json=dict(body), timeout=seconds)
        except httpx2.HTTPError as error:
            return None, self._silent(str(error) or type(error).__name__), pause
        if response.status_code in RETRIED:
            told = _retry_after(response.headers.get("retry-after", ""))
            return None, self._silent(f"HTTP {response.status_code} {_said(response.text)}"), max(pause, told)
        if response.status_code != 200:
            raise self._refused(response.status_code, _said(response.text))
        try:
            answer = parse_json(response.content)
        except ValueError:
            return None, self._silent("its answer is not JSON"), pause
        if not isinstance(answer, Mapping):
            return None, self._silent("its answer is no object"), pause
        return answer, None, 0.0

    def _opened(self) -> Any:
        import httpx2

        with self._guard:
            if self._client is None:
                headers = {"User-Agent": "everfind"}
                if self.endpoint.key:
                    headers["Authorization"] = f"Bearer {self.endpoint.key}"
                self._client = httpx2.Client(headers=headers)
            return self._client

    def _silent(self, why: str) -> UnavailableError:
        return UnavailableError(
            f"{self.endpoint.url} does not answer: {why.replace(self.endpoint.key or chr(0), '…')}",
            hint="Check the network and the proxy settings, or try again later.",
        )

    def _refused(self, status: int, why: str) -> ModelUnusableError:
        said = why.replace(self.endpoint.key or chr(0), "…")
        if status in (401, 403):
            return ModelUnusableError(
                f"{self.endpoint.url} refuses the key (HTTP {status}) {said}".rstrip(), hint="Check its key file."
            )
        return ModelUnusableError(
            f"{self.endpoint.url} refuses the request (HTTP {status}) {said}".rstrip(),
            hint="Check the model's name and the endpoint.",
        )


def read_key(file: Path | None, setting: str, variable: str = "") -> str:
    """A provider's key: of the environment's ``variable`` if it is set, else of ``file``; empty without both.

    Raises:
        ConfigError: the file cannot be read, or holds no key.
    """
    if variable and (given := os.environ.get(variable, "").strip()):
        return _one_word(given, variable)
    if file is None:
        return ""
    try:
        return _one_word(file.read_text(encoding="utf-8").strip(), str(file))
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        raise ConfigError(f"{setting}: {file} cannot be read: {why}", hint="Check its path and mode.") from error


def _one_word(key: str, place: str) -> str:
    if not key or not key.isascii() or not key.isprintable() or " " in key:
        raise ConfigError(f"{place} holds no key", hint="It is one word, as the provider gave it.")
    return key


def _retry_after(header: str) -> float:
    """Seconds that a provider asks to wait (RFC 9110, 10.2.3: the form in seconds); 0 where it does not say."""
    return min(LONGEST_PAUSE, float(header)) if header.isascii() and header.isdigit() else 0.0


def _said(text: str) -> str:
    """The start of an answer's text, in one line."""
    return " ".join(text.split())[:SHOWN_CHARACTERS]
