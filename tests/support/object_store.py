"""A server of this process that speaks S3, with one bucket for all tests in it."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Iterator
from typing import Any

import pytest
from boto3.session import Session
from moto.server import ThreadedMotoServer

ENVIRONMENT = {"AWS_ACCESS_KEY_ID": "anybody", "AWS_SECRET_ACCESS_KEY": "hidden-key", "AWS_REGION": "eu-west-1"}
BUCKET = "a-team"


@contextlib.contextmanager
def object_store(patch: pytest.MonkeyPatch) -> Iterator[Any]:
    """A client of the store; the AWS environment leads to it within the block."""
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    try:
        host, port = server.get_host_and_port()
        for name in ("AWS_PROFILE", "AWS_SESSION_TOKEN", "AWS_DEFAULT_REGION"):
            patch.delenv(name, raising=False)
        for name, value in {**ENVIRONMENT, "AWS_ENDPOINT_URL": f"http://{host}:{port}"}.items():
            patch.setenv(name, value)
        client = Session().client("s3")
        with contextlib.suppress(client.exceptions.BucketAlreadyOwnedByYou):  # what is stored lasts as the process
            client.create_bucket(Bucket=BUCKET, CreateBucketConfiguration={"LocationConstraint": "eu-west-1"})
        yield client
        client.close()
    finally:
        server.stop()
