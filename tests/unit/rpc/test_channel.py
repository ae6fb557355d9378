"""The policy of channels, pages, and the patience of an indexer with its embedder."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Sequence

import grpc
import pytest
from hypothesis import given
from hypothesis import strategies as st

from everfind.embedder.v1 import embedder_service_pb2 as embedder_pb
from everfind_core.cancellation import Cancellation
from everfind_core.errors import (
    CancelledError,
    DeadlineExceededError,
    EverfindError,
    InvalidRequestError,
    ModelUnusableError,
    OverloadedError,
    UnavailableError,
)
from everfind_core.model import InputKind, Vectors
from everfind_embedder.servicer import MAX_BATCH_TEXTS, embedder_service
from everfind_rpc.channel import Connection, Endpoint, service_config
from everfind_rpc.clients.call_errors import call_error
from everfind_rpc.clients.embedder import BATCH_TEXTS, RemoteEmbedder
from everfind_rpc.clients.patience import PatientEmbedder
from everfind_rpc.serving.paging import page
from tests.support.fakes import FakeEmbedder, FakeTokenizer
from tests.support.serving import SERVICES, serving


def test_what_the_contract_marks_as_repeatable_is_retried_and_nothing_else() -> None:
    (policy,) = service_config(list(SERVICES))["methodConfig"]
    names = {name["method"] for name in policy["name"]}
    assert {"Search", "Gather", "Embed", "GetModel", "ReadFile", "Grep", "GetStatus", "CreateIndexRun"} <= names
    assert not names & {"AddFolder", "RemoveFolder"}
    assert not names & {"WatchIndexRun", "GetTokenizer"}  # streams: grpcio hangs on them
    assert policy["retryPolicy"]["retryableStatusCodes"] == ["UNAVAILABLE"]


@given(st.lists(st.tuples(st.sampled_from("abc"), st.integers(0, 99)), unique=True), st.integers(1, 5))
def test_pages_give_every_item_once_and_in_order(items: list[tuple[str, int]], size: int) -> None:
    found: list[tuple[str, int]] = []
    token = ""
    while True:
        part, token = page(items, lambda item: item, size=size, token=token, most=4)
        assert len(part) <= min(size, 4)
        found += part
        if not token:
            break
    assert found == sorted(items)


@given(st.text())
def test_a_page_token_is_ours_or_refused(token: str) -> None:
    with contextlib.suppress(InvalidRequestError):
        assert page([("a", 1)], lambda item: item, size=0, token=token, most=10)[1] == ""


class Flaky(FakeEmbedder):
    away: int = 0

    def embed(self, texts: Sequence[str], kind: InputKind, *, cancel: Cancellation | None = None) -> Vectors:
        if self.away:
            self.away -= 1
            raise UnavailableError("away")
        return super().embed(texts, kind, cancel=cancel)


def test_a_run_waits_for_its_embedder() -> None:
    flaky = Flaky()
    flaky.away = 3
    patient = PatientEmbedder(flaky, first_seconds=0.01)
    assert patient.embed(["x"], InputKind.DOCUMENT, cancel=Cancellation()).shape == (1, 32)
    flaky.away = 1
    with pytest.raises(UnavailableError):
        patient.embed(["x"], InputKind.DOCUMENT)


def test_waiting_for_an_embedder_ends_with_its_caller() -> None:
    flaky = Flaky()
    flaky.away = 1_000_000
    cancel = Cancellation()
    threading.Timer(0.2, cancel.cancel).start()
    with pytest.raises(CancelledError):
        PatientEmbedder(flaky, first_seconds=0.01).embed(["x"], InputKind.DOCUMENT, cancel=cancel)


def test_vectors_of_another_model_are_never_taken() -> None:
    from dataclasses import replace

    fake = FakeEmbedder()
    with (
        serving([embedder_service(fake)]) as address,
        Connection(Endpoint(address), [embedder_pb.DESCRIPTOR.services_by_name["EmbedderService"]]) as connection,
    ):
        remote = RemoteEmbedder(connection)
        assert remote.embed(["a"], InputKind.QUERY).shape == (1, 32)
        fake.info = replace(fake.info, revision="2")
        for _ in range(2):
            with pytest.raises(ModelUnusableError, match=r"from fake@1 to fake@2"):
                remote.embed(["a"], InputKind.QUERY)
        assert remote.model().identity == "fake@2"
        assert remote.embed(["a"], InputKind.QUERY).shape == (1, 32)
        with pytest.raises(ModelUnusableError, match="cannot be sent"):
            remote.tokenizer()


def test_a_batch_is_cut_to_what_a_call_may_carry() -> None:
    fake = FakeEmbedder()
    texts = [f"word{n}" for n in range(MAX_BATCH_TEXTS + 1)] + ["x" * 1_100_000, "y" * 1_100_000]
    with (
        serving([embedder_service(fake)]) as address,
        Connection(Endpoint(address), [embedder_pb.DESCRIPTOR.services_by_name["EmbedderService"]]) as connection,
    ):
        vectors = RemoteEmbedder(connection).embed(texts, InputKind.DOCUMENT)
    assert vectors.shape == (len(texts), 32)
    assert fake.calls == MAX_BATCH_TEXTS // BATCH_TEXTS + 3


@pytest.mark.parametrize("error", [UnavailableError("away"), OverloadedError("busy"), DeadlineExceededError("slow")])
def test_a_run_waits_until_its_embedder_is_there(error: EverfindError) -> None:
    class Absent(FakeEmbedder):
        asked = 0

        def tokenizer(self) -> FakeTokenizer:
            self.asked += 1
            if self.asked < 3:
                raise error
            return super().tokenizer()

    absent = Absent()
    PatientEmbedder(absent, first_seconds=0.01).wait_until_ready(Cancellation())
    assert absent.asked == 3
    absent.asked = -1_000_000
    with pytest.raises(DeadlineExceededError):
        PatientEmbedder(absent, first_seconds=0.01).wait_until_ready(Cancellation(time.monotonic() + 0.2))


def test_a_call_that_ends_as_cancelled_though_nobody_gave_up_is_an_outage() -> None:
    """So a server ends the calls that it does not wait for when it stops."""
    ended = grpc.aio.AioRpcError(
        grpc.StatusCode.CANCELLED, grpc.aio.Metadata(), grpc.aio.Metadata(), details="CANCELLED"
    )
    error = call_error(ended, "example.org:1")
    assert type(error) is UnavailableError
    assert "example.org:1" in error.message
