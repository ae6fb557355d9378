"""Objects of a store that speaks S3: conditions, and faults as errors that repeat no credentials."""

from __future__ import annotations

import builtins
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from boto3.exceptions import S3UploadFailedError
from botocore import exceptions
from botocore.exceptions import ClientError

from everfind_core.errors import ConfigError, StorageError, UnavailableError
from everfind_core.index.object_place import ObjectPlace
from everfind_rpc.objects import Objects
from tests.support.object_store import BUCKET, ENVIRONMENT, object_store


@pytest.fixture(scope="module")
def store() -> Iterator[Any]:
    with pytest.MonkeyPatch.context() as patch, object_store(patch) as client:
        yield client


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("s3://bucket", ObjectPlace("bucket")),
        ("s3://bucket/", ObjectPlace("bucket")),
        ("s3://a-bucket.of.mine/some/prefix/", ObjectPlace("a-bucket.of.mine", "some/prefix")),
    ],
)
def test_places_are_read_and_written(text: str, place: ObjectPlace) -> None:
    assert ObjectPlace.parse(text) == place
    assert ObjectPlace.parse(str(place)) == place
    assert place.key("x") == (f"{place.prefix}/x" if place.prefix else "x")


@pytest.mark.parametrize(
    "text", ["", "s3://", "s3:///x", "S3://bucket", "gs://bucket", "s3://b/x", "s3://bucket/a//b", "s3://bucket/a/../b"]
)
def test_what_is_no_place_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="is no s3://BUCKET/PREFIX"):
        ObjectPlace.parse(text)
    assert ObjectPlace.checked("") == ""


def test_an_object_is_written_only_where_nobody_wrote_meanwhile(store: Any) -> None:
    objects = Objects(ObjectPlace(BUCKET, "conditions"))
    assert objects.read("p") is None
    assert objects.write("p", b"one", replaces=None)
    assert not objects.write("p", b"two", replaces=None)
    first = objects.read("p")
    assert first is not None
    assert first.content == b"one"
    assert objects.write("p", b"three", replaces=first)
    assert not objects.write("p", b"four", replaces=first)
    assert (objects.read("p") or first).content == b"three"


def test_files_are_sent_listed_and_removed(store: Any, tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"12345")
    objects = Objects(ObjectPlace(BUCKET, "files"))
    for name in ("a/one", "a/two", "b/three"):
        objects.upload(name, tmp_path / "file")
    assert objects.sizes("a/") == {"a/one": 5, "a/two": 5}
    objects.remove(["a/one", "a/none"])
    assert objects.sizes("") == {"a/two": 5, "b/three": 5}
    with pytest.raises(OSError, match="none"):
        objects.upload("a/x", tmp_path / "none")


def test_a_bucket_that_is_not_there(store: Any, tmp_path: Path) -> None:
    objects = Objects(ObjectPlace("nowhere", "x"))
    (tmp_path / "file").write_bytes(b"1")
    calls = (
        lambda: objects.read("p"),
        lambda: objects.write("p", b"", replaces=None),
        lambda: objects.upload("p", tmp_path / "file"),
        lambda: objects.sizes(""),
        lambda: objects.remove(["p"]),
    )
    for call in calls:
        with pytest.raises(ConfigError, match="there is no bucket 'nowhere'"):
            call()


def test_credentials_that_are_refused_are_not_repeated(
    store: Any, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, tmp_path: Path
) -> None:
    objects = Objects(ObjectPlace(BUCKET, "x"))
    (tmp_path / "file").write_bytes(b"1")
    monkeypatch.setattr("moto.settings.INITIAL_NO_AUTH_ACTION_COUNT", 0.0)
    for call in (
        lambda: objects.read("p"),
        lambda: objects.write("p", b"", replaces=None),
        lambda: objects.upload("p", tmp_path / "file"),
        lambda: objects.sizes(""),
        lambda: objects.remove(["p"]),
    ):
        with pytest.raises(ConfigError, match="the credentials are refused for s3://a-team/x") as refused:
            call()
        said = f"{refused.value} {refused.value.hint} {caplog.text}"
        assert not any(ENVIRONMENT[name] in said for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"))


@pytest.mark.parametrize(
    ("code", "status", "error"),
    [
        ("InvalidAccessKeyId", 403, ConfigError),
        ("SignatureDoesNotMatch", 403, ConfigError),
        ("ExpiredToken", 400, ConfigError),
        ("NoSuchBucket", 404, ConfigError),
        ("PermanentRedirect", 301, ConfigError),
        ("SlowDown", 503, UnavailableError),
        ("InternalError", 500, UnavailableError),
        ("503", 503, UnavailableError),
        ("EntityTooLarge", 400, StorageError),
    ],
)
@pytest.mark.parametrize("call", ["get_object", "upload_file"])
def test_what_a_store_refuses_is_told_by_its_code(
    monkeypatch: pytest.MonkeyPatch,
    store: Any,
    tmp_path: Path,
    code: str,
    status: int,
    error: type[Exception],
    call: str,
) -> None:
    """The text says nothing of it."""

    def refuse(*_: object, **__: object) -> None:
        answer: Any = {"Error": {"Code": code, "Message": "no"}, "ResponseMetadata": {"HTTPStatusCode": status}}
        refusal = ClientError(answer, "Anything")
        refusal.args = ("no",)
        if call == "get_object":
            raise refusal
        try:
            raise refusal
        except ClientError:
            raise S3UploadFailedError("no") from None  # the refusal is its context, as in boto3

    objects = Objects(ObjectPlace(BUCKET, "x"))
    monkeypatch.setattr(objects._client, call, refuse)
    with pytest.raises(error, match=r"s3://a-team/x|'a-team'"):
        objects.read("p") if call == "get_object" else objects.upload("p", tmp_path)


def test_no_credentials(store: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.delenv(name)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "none"))
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "none"))
    with pytest.raises(ConfigError, match="there are no credentials for s3://a-team/x"):
        Objects(ObjectPlace(BUCKET, "x")).read("p")
    monkeypatch.setenv("AWS_PROFILE", "nobody")
    with pytest.raises(ConfigError, match="there are no credentials for s3://a-team/x"):
        Objects(ObjectPlace(BUCKET, "x")).read("p")


@pytest.mark.parametrize(
    "error",
    [
        exceptions.PartialCredentialsError(provider="env", cred_var="AWS_SECRET_ACCESS_KEY"),
        exceptions.CredentialRetrievalError(provider="process", error_msg="it ended with 1"),
        exceptions.UnauthorizedSSOTokenError(),
        exceptions.TokenRetrievalError(provider="sso", error_msg="it is over"),
    ],
    ids=lambda error: type(error).__name__,
)
def test_credentials_that_cannot_be_had(store: Any, monkeypatch: pytest.MonkeyPatch, error: Exception) -> None:
    def fail(*_: object, **__: object) -> None:
        raise error

    objects = Objects(ObjectPlace(BUCKET, "x"))
    monkeypatch.setattr(objects._client, "get_object", fail)
    with pytest.raises(ConfigError, match="there are no credentials for s3://a-team/x"):
        objects.read("p")


def test_a_store_that_does_not_answer(store: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")
    with pytest.raises(UnavailableError, match="the object store of s3://a-team/x does not answer"):
        Objects(ObjectPlace(BUCKET, "x")).read("p")
    monkeypatch.setenv("AWS_ENDPOINT_URL", "not an address")
    with pytest.raises(ConfigError, match="s3://a-team/x cannot be used"):
        Objects(ObjectPlace(BUCKET, "x"))


def test_the_package_is_asked_for_where_it_is_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def without(name: str, *arguments: Any) -> Any:
        if name.startswith("boto"):
            raise ImportError(name)
        return real(name, *arguments)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(ConfigError, match="needs the package boto3") as missing:
        Objects(ObjectPlace(BUCKET, "x"))
    assert missing.value.hint == "Install everfind[s3]."


def test_an_address_is_told_without_the_secrets_in_it(store: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://name:secret@127.0.0.1:9/s3")
    told = Objects(ObjectPlace(BUCKET, "x")).address_options()
    assert told["aws_endpoint"] == "http://127.0.0.1:9/s3"
    assert told["allow_http"] == "true"
