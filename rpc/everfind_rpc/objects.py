"""Objects in a store that speaks S3: read, written on condition, listed, removed; its faults in everfind's words.

Credentials, region and address are those that every AWS program finds: the environment, the profiles of its user, the
role of the machine. None of them passes through everfind's settings, and no message repeats them.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from everfind_core.errors import ConfigError, EverfindError, StorageError, UnavailableError
from everfind_core.index.object_place import ObjectPlace

_ABSENT: Final = frozenset({"NoSuchKey", "404"})
_CHANGED: Final = frozenset({"PreconditionFailed", "ConditionalRequestConflict", "412", "409"})
_DENIED: Final = frozenset(
    {"AccessDenied", "InvalidAccessKeyId", "SignatureDoesNotMatch", "ExpiredToken", "InvalidToken", "403"}
    | {"InvalidClientTokenId", "TokenRefreshRequired", "AuthFailure"}
)
_ELSEWHERE: Final = frozenset(
    {"PermanentRedirect", "AuthorizationHeaderMalformed", "IllegalLocationConstraintException"}
)
_REMOVED_AT_ONCE: Final = 1_000
_CREDENTIALS_HINT: Final = "Set AWS_PROFILE, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, to ones that may use it."


@dataclass(frozen=True, slots=True)
class Stored:
    """An object's content, and what tells it from every other content of its name."""

    content: bytes
    etag: str


class Objects:
    """The objects of one place. Thread-safe; calls take seconds at most, and are tried again a few times.

    All calls raise ConfigError for a bucket that is not there or credentials that are refused, UnavailableError where
    the store does not answer, and StorageError for what else it refuses.
    """

    def __init__(self, place: ObjectPlace) -> None:
        """Prepare; nothing is asked of the store yet.

        Raises:
            ConfigError: the package for it is not installed, or the AWS environment cannot be used.
        """
        self.place = place
        try:
            from boto3.session import Session
            from botocore.config import Config
        except ImportError as error:
            raise ConfigError(f"{place} needs the package boto3", hint="Install everfind[s3].") from error
        config = Config(connect_timeout=5, read_timeout=30, retries={"total_max_attempts": 3, "mode": "standard"})
        with self._faults():
            self._client: Any = Session().client("s3", config=config)

    def read(self, name: str) -> Stored | None:
        """An object; None if there is none."""
        from botocore.exceptions import ClientError

        with self._faults():
            try:
                found = self._client.get_object(Bucket=self.place.bucket, Key=self.place.key(name))
                return Stored(found["Body"].read(), found["ETag"])
            except ClientError as error:
                if _code(error) in _ABSENT:
                    return None
                raise

    def write(self, name: str, content: bytes, *, replaces: Stored | None) -> bool:
        """Write an object in place of what was read, or where there was none; False if it is not so any more."""
        from botocore.exceptions import ClientError

        condition = {"IfMatch": replaces.etag} if replaces else {"IfNoneMatch": "*"}
        with self._faults():
            try:
                self._client.put_object(Bucket=self.place.bucket, Key=self.place.key(name), Body=content, **condition)
            except ClientError as error:
                if _code(error) in _CHANGED | _ABSENT:
                    return False
                raise
        return True

    def upload(self, name: str, file: Path) -> None:
        """Write an object of a file, whatever is there.

        Raises:
            OSError: the file cannot be read.
        """
        with self._faults():
            self._client.upload_file(str(file), self.place.bucket, self.place.key(name))

    def sizes(self, below: str) -> dict[str, int]:
        """The sizes in bytes of all objects whose names begin with ``below``, by their names."""
        start = len(self.place.key(""))
        with self._faults():
            pages = self._client.get_paginator("list_objects_v2").paginate(
                Bucket=self.place.bucket, Prefix=self.place.key(below)
            )
            return {one["Key"][start:]: int(one["Size"]) for page in pages for one in page.get("Contents", ())}

    def remove(self, names: Sequence[str]) -> None:
        """Remove objects; those that are gone already are no fault."""
        for start in range(0, len(names), _REMOVED_AT_ONCE):
            keys = [{"Key": self.place.key(name)} for name in names[start : start + _REMOVED_AT_ONCE]]
            with self._faults():
                self._client.delete_objects(Bucket=self.place.bucket, Delete={"Objects": keys, "Quiet": True})

    def address_options(self) -> Mapping[str, str]:
        """Where the store answers, as Lance wants to be told; it finds credentials as every AWS program does."""
        endpoint, region = _without_secrets(str(self._client.meta.endpoint_url)), str(self._client.meta.region_name)
        options = {"aws_region": "us-east-1" if region == "aws-global" else region}
        if not endpoint.endswith(".amazonaws.com"):
            options["aws_endpoint"] = endpoint
        if endpoint.startswith("http://"):
            options["allow_http"] = "true"
        return options

    @contextlib.contextmanager
    def _faults(self) -> Iterator[None]:
        """What the library raises, as errors of the tree."""
        from boto3.exceptions import Boto3Error
        from botocore.exceptions import BotoCoreError, ClientError

        try:
            yield
        except ClientError as error:
            raise self._refused(_code(error)) from error
        except (Boto3Error, BotoCoreError, ValueError) as error:
            raise self._failed(error) from error

    def _refused(self, code: str) -> EverfindError:
        if code == "NoSuchBucket":
            return ConfigError(f"there is no bucket {self.place.bucket!r}", hint="Make it, or name another one.")
        if code in _DENIED:
            return ConfigError(f"the credentials are refused for {self.place} ({code})", hint=_CREDENTIALS_HINT)
        if code in _ELSEWHERE:
            return ConfigError(f"the bucket of {self.place} lies in another region", hint="Set AWS_REGION to it.")
        if code in ("SlowDown", "RequestTimeout", "ServiceUnavailable", "InternalError") or code.startswith("5"):
            return UnavailableError(f"the object store of {self.place} is not able to answer now", hint="Try again.")
        return StorageError(f"the object store refuses a call for {self.place} ({code})", hint="See its log.")

    def _failed(self, error: Exception) -> EverfindError:
        from botocore import exceptions

        refused = error.__context__  # an upload has an error of its own for what the store refuses
        if isinstance(refused, exceptions.ClientError):
            return self._refused(_code(refused))
        if isinstance(error, (exceptions.HTTPClientError, exceptions.ConnectionError)):
            return UnavailableError(
                f"the object store of {self.place} does not answer", hint="Check the network and AWS_ENDPOINT_URL."
            )
        without = (
            exceptions.NoCredentialsError,
            exceptions.PartialCredentialsError,
            exceptions.CredentialRetrievalError,
            exceptions.UnknownCredentialError,
            exceptions.ProfileNotFound,
            exceptions.TokenRetrievalError,
            exceptions.NoAuthTokenError,
            exceptions.SSOError,
        )
        if isinstance(error, without):
            return ConfigError(f"there are no credentials for {self.place}", hint=_CREDENTIALS_HINT)
        return ConfigError(
            f"{self.place} cannot be used: {type(error).__name__}", hint="Check the AWS variables and profile."
        )


def _without_secrets(address: str) -> str:
    """A URL without the name and password that may stand in it: what this gives is written to a file."""
    scheme, _, rest = address.partition("://")
    host, slash, path = rest.partition("/")
    return f"{scheme}://{host.rpartition('@')[2]}{slash}{path}"


def _code(error: Any) -> str:
    return str(error.response.get("Error", {}).get("Code", ""))
