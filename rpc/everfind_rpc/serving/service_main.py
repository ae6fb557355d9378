"""What the three services' processes share: settings from the environment, logs, and the way from a start to an end."""

from __future__ import annotations

import argparse
import contextlib
import logging
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Literal, TypeVar

from pydantic import Field, ValidationError
from pydantic_settings import BaseSettings, SettingsConfigDict

from everfind_core import __version__
from everfind_core.allocator import limit_arenas
from everfind_core.errors import ConfigError, EverfindError
from everfind_core.wrong_values import what_is_wrong
from everfind_rpc.auth import SecretFile, TokenFile
from everfind_rpc.channel import Endpoint
from everfind_rpc.hosts import is_loopback
from everfind_rpc.logs import configure_logs
from everfind_rpc.serving.metrics import Metrics, PrometheusMetrics
from everfind_rpc.serving.server import ServerSettings, run_server
from everfind_rpc.serving.service import Service
from everfind_rpc.tls import ClientTls, server_tls
from everfind_rpc.tracing import configure_tracing

ENV_PREFIX = "EVERFIND_"
_log = logging.getLogger("everfind.server")


class ServiceSettings(BaseSettings):
    """What every service is told. Each field is a variable of the environment: ``EVERFIND_`` and its name."""

    model_config = SettingsConfigDict(env_prefix=ENV_PREFIX, env_ignore_empty=True, extra="ignore", frozen=True)

    listen: str = Field(
        default="127.0.0.1:50051", description="HOST:PORT to listen on; beyond loopback it needs a token."
    )
    token_file: Path | None = Field(
        default=None, description="File of the tokens to take, as `everfind token` writes it."
    )
    tls_certificate: Path | None = Field(
        default=None, description="Certificate chain (PEM) to show; none is plain text."
    )
    tls_key: Path | None = Field(default=None, description="Private key (PEM) of the certificate.")
    tls_client_ca: Path | None = Field(
        default=None, description="Authority (PEM) that must have signed clients' certificates."
    )
    max_calls: int = Field(
        default=128, ge=1, le=10_000, description="Calls under way or waiting; more are told to come later."
    )
    call_threads: int = Field(default=16, ge=1, le=256, description="Threads that run calls.")
    drain_seconds: float = Field(
        default=1.0, ge=0, le=600, description="How long to say that it stops before it stops."
    )
    grace_seconds: float = Field(
        default=20.0, ge=0, le=3600, description="How long calls under way may take at the end."
    )
    max_connection_seconds: float = Field(
        default=300.0,
        ge=1,
        le=86_400,
        description="Age at which a connection is renewed; by then a client has found servers that joined.",
    )
    metrics_listen: str = Field(default="", description="HOST:PORT for Prometheus to read; none is no metrics.")
    log_level: Literal["debug", "info", "warning", "error"] = Field(
        default="info", description="What is logged on stderr."
    )
    service_token_file: Path | None = Field(default=None, description="File of the token to show to other services.")
    service_ca: Path | None = Field(default=None, description="Authority (PEM) of other services; none is plain text.")
    service_certificate: Path | None = Field(default=None, description="Certificate (PEM) to show to other services.")
    service_key: Path | None = Field(default=None, description="Private key (PEM) of that certificate.")

    def server(self) -> ServerSettings:
        """How to serve.

        Raises:
            ConfigError: TLS settings do not belong together.
        """
        return ServerSettings(
            listen=self.listen,
            tokens=TokenFile(self.token_file) if self.token_file else None,
            tls=server_tls(self.tls_certificate, self.tls_key, self.tls_client_ca),
            threads=self.call_threads,
            max_calls=self.max_calls,
            drain_seconds=self.drain_seconds,
            grace_seconds=self.grace_seconds,
            max_connection_seconds=self.max_connection_seconds,
        )

    def endpoint(self, address: str) -> Endpoint:
        """How to reach another service.

        Raises:
            ConfigError: the token file cannot be read.
        """
        tls = None
        if self.service_ca or self.service_certificate:
            tls = ClientTls(self.service_ca, self.service_certificate, self.service_key)
        if self.service_token_file is None:
            return Endpoint(address, tls=tls)
        token = SecretFile(self.service_token_file)
        token.read()  # a file that cannot be read ends the process now, and not its first call
        return Endpoint(address, token, tls)


SettingsT = TypeVar("SettingsT", bound=ServiceSettings)


def run_service(
    name: str,
    kind: type[SettingsT],
    open_services: Callable[[SettingsT, contextlib.ExitStack], Sequence[Service]],
    arguments: Sequence[str] | None = None,
) -> int:
    """Run services until told to stop; gives the process's exit code.

    ``open_services`` makes them of the settings, and leaves what must be closed at the end on the stack.
    """
    parser = argparse.ArgumentParser(
        prog=f"python -m everfind_{name}",
        description=f"The everfind {name} as a gRPC server, set by these variables of the environment:",
        epilog=settings_text(kind),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"everfind {__version__}")
    parser.parse_args(arguments)
    limit_arenas()
    try:
        settings = load_settings(kind)
        configure_logs(name, settings.log_level)
        serving = settings.server()
        with contextlib.ExitStack() as stack:
            stack.callback(configure_tracing(name))
            if serving.tokens is None and is_loopback(serving.listen.rpartition(":")[0]):
                _log.warning("no EVERFIND_TOKEN_FILE: every user of this machine may make every call")
            run_server(open_services(settings, stack), serving, _metrics(settings, stack))
    except EverfindError as error:
        sys.stderr.write(f"everfind {name}: {error.message}\n" + (f"  hint: {error.hint}\n" if error.hint else ""))
        return error.exit_code
    return 0


def _metrics(settings: ServiceSettings, stack: contextlib.ExitStack) -> Metrics:
    if not settings.metrics_listen:
        return Metrics()
    metrics = PrometheusMetrics()
    stack.callback(metrics.serve(settings.metrics_listen))
    return metrics


def load_settings(kind: type[SettingsT]) -> SettingsT:
    """The settings that the environment gives.

    Raises:
        ConfigError: one is missing or cannot be used.
    """
    try:
        return kind()
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False)[0]
        variable = ENV_PREFIX + str(first["loc"][0]).upper()
        what = "it must be set" if first["type"] == "missing" else what_is_wrong(first)
        raise ConfigError(f"{variable}: {what[:1].lower()}{what[1:]}", hint="`--help` lists the variables.") from None


def comma_separated(given: Any) -> tuple[str, ...]:
    """A list as a variable of the environment gives it."""
    parts = given.split(",") if isinstance(given, str) else given
    return tuple(part for part in (str(one).strip() for one in parts) if part)


def settings_text(kind: type[ServiceSettings]) -> str:
    """One line a setting: variable, default, description."""
    lines = []
    for name, field in kind.model_fields.items():
        default = "" if field.is_required() or field.default in (None, ()) else f" [{field.default}]"
        lines.append(f"  {ENV_PREFIX}{name.upper()}{default}\n      {field.description}")
    return "\n".join(lines)
