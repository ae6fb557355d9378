"""TLS from PEM files, for both ends."""

from __future__ import annotations

import ssl
from dataclasses import dataclass
from pathlib import Path

import grpc

from everfind_core.causes import cause
from everfind_core.errors import ConfigError


@dataclass(frozen=True, slots=True)
class ServerTls:
    """A server's certificate chain and key; with ``client_ca`` clients need a certificate signed by it (mTLS)."""

    certificate: Path
    key: Path
    client_ca: Path | None = None


@dataclass(frozen=True, slots=True)
class ClientTls:
    """Whom a client trusts (None: the usual authorities), and its own certificate where the server asks for one."""

    ca: Path | None = None
    certificate: Path | None = None
    key: Path | None = None


def server_tls(certificate: Path | None, key: Path | None, client_ca: Path | None) -> ServerTls | None:
    """What a server's settings mean; None is no TLS.

    Raises:
        ConfigError: one of the two files is missing.
    """
    if certificate and key:
        return ServerTls(certificate, key, client_ca)
    if certificate or key or client_ca:
        missing = " and ".join(name for name, file in (("certificate", certificate), ("key", key)) if not file)
        raise ConfigError(
            f"TLS needs both a certificate and its key; there is no {missing}",
            hint="Name both: --tls-certificate and --tls-key; for a service EVERFIND_TLS_CERTIFICATE and "
            "EVERFIND_TLS_KEY.",
        )
    return None


def server_credentials(tls: ServerTls) -> grpc.ServerCredentials:
    """The credentials of a server.

    Raises:
        ConfigError: a file cannot be read.
    """
    client_ca = _read(tls.client_ca) if tls.client_ca else None
    return grpc.ssl_server_credentials(
        [(_read(tls.key), _read(tls.certificate))],
        root_certificates=client_ca,
        require_client_auth=client_ca is not None,
    )


def check_tls(tls: ServerTls) -> None:
    """Refuse a certificate and a key that a server cannot use together.

    Raises:
        ConfigError: a file cannot be read, or the key is not that of the certificate.
    """
    for path in (tls.key, tls.certificate):
        _read(path)
    try:
        ssl.create_default_context(ssl.Purpose.CLIENT_AUTH).load_cert_chain(tls.certificate, tls.key, password="")
    except (ssl.SSLError, OSError) as error:
        raise ConfigError(
            f"{tls.certificate} and {tls.key} cannot be used for TLS: {cause(error)}",
            hint="They are a certificate chain and its own private key, without a passphrase.",
        ) from error


def client_credentials(tls: ClientTls) -> grpc.ChannelCredentials:
    """The credentials of a client.

    Raises:
        ConfigError: a file cannot be read, or a certificate has no key.
    """
    if (tls.certificate is None) != (tls.key is None):
        given, missing = ("key", "certificate") if tls.certificate is None else ("certificate", "key")
        raise ConfigError(
            f"a client's {given} needs its {missing}", hint="Set both server_certificate and server_key, or none."
        )
    return grpc.ssl_channel_credentials(
        root_certificates=_read(tls.ca) if tls.ca else None,
        private_key=_read(tls.key) if tls.key else None,
        certificate_chain=_read(tls.certificate) if tls.certificate else None,
    )


def _read(path: Path) -> bytes:
    try:
        content = path.read_bytes()
    except OSError as error:
        raise ConfigError(
            f"the TLS file {path} cannot be read: {error.strerror}", hint="Check its path, owner and mode."
        ) from error
    if b"-----BEGIN" not in content:
        raise ConfigError(f"the TLS file {path} is not in PEM form", hint="It begins with -----BEGIN …-----.")
    return content
