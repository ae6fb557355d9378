"""The error table, read in both directions, and over a real channel."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent import futures

import grpc
import pytest
from google.rpc.error_details_pb2 import BadRequest, ErrorInfo, RetryInfo
from google.rpc.status_pb2 import Status
from grpc_status import rpc_status
from hypothesis import given, settings
from hypothesis import strategies as st

from everfind.searcher.v1 import searcher_service_pb2 as searcher_pb
from everfind.searcher.v1 import searcher_service_pb2_grpc as searcher_grpc
from everfind_core import errors
from everfind_core.errors import EverfindError, FieldViolation, InvalidRequestError, error_classes
from everfind_core.model import IndexRequest, IndexRun, RunState
from everfind_rpc.errors import CLASSES_BY_CODE, DOMAIN, STATUS_CODES, error_to_status, run_error, status_to_error

CLASSES = sorted(error_classes().values(), key=lambda cls: cls.reason)

texts = st.text(max_size=50)
keys = st.text(alphabet="abcdefghijklmnopqrstuvwxyz_", min_size=1, max_size=20).filter(lambda key: key != "hint")
fields = st.sampled_from(["query", "filters.include", "wait_seconds", "seconds", "search.limit"])
violations = st.lists(st.builds(FieldViolation, field=fields, description=texts), max_size=4).map(tuple)


def _facts(error: EverfindError) -> tuple[object, ...]:
    return type(error), error.message, error.hint, error.details, error.violations


def _number(code: grpc.StatusCode) -> int:
    number: int = code.value[0]
    return number


def test_every_class_has_a_code() -> None:
    assert set(STATUS_CODES) == set(CLASSES)
    assert grpc.StatusCode.OK not in STATUS_CODES.values()


@pytest.mark.parametrize("cls", CLASSES, ids=lambda cls: cls.reason)
@given(message=texts, hint=texts, details=st.dictionaries(keys, texts, max_size=4), wrong=violations)
@settings(max_examples=15, deadline=None)
def test_every_error_survives_its_status(
    cls: type[EverfindError], message: str, hint: str, details: dict[str, str], wrong: tuple[FieldViolation, ...]
) -> None:
    error = cls(message, hint=hint, details=details, violations=wrong)
    status = Status.FromString(error_to_status(error).SerializeToString())
    assert status.code == _number(STATUS_CODES[cls])
    assert _facts(status_to_error(status)) == _facts(error)


@pytest.mark.parametrize("cls", CLASSES, ids=lambda cls: cls.reason)
def test_retry_info_stands_where_trying_again_helps(cls: type[EverfindError]) -> None:
    kinds = [detail.TypeName() for detail in error_to_status(cls("m")).details]
    helps = cls in {errors.OverloadedError, errors.UnavailableError}
    assert (RetryInfo.DESCRIPTOR.full_name in kinds) == helps


def test_a_status_is_readable_by_any_client() -> None:
    error = InvalidRequestError.of("wait_seconds", "it is negative", hint="Use 0 or more.")
    status = error_to_status(error)
    info, bad_request = ErrorInfo(), BadRequest()
    assert status.details[0].Unpack(info)
    assert status.details[1].Unpack(bad_request)
    assert (info.reason, info.domain, dict(info.metadata)) == ("INVALID_REQUEST", DOMAIN, {"hint": "Use 0 or more."})
    assert [(v.field, v.description) for v in bad_request.field_violations] == [("wait", "it is negative")]


@pytest.mark.parametrize("code", list(grpc.StatusCode), ids=lambda code: code.name)
def test_a_status_without_details_gets_the_class_of_its_code(code: grpc.StatusCode) -> None:
    error = status_to_error(Status(code=_number(code), message="from a proxy"))
    assert type(error) is CLASSES_BY_CODE.get(code, errors.InternalError)
    assert (error.message, error.details) == ("from a proxy", {"status": code.name})


def test_an_unknown_reason_keeps_its_words() -> None:
    status = Status(code=_number(grpc.StatusCode.NOT_FOUND), message="no such planet: x")
    info = ErrorInfo(reason="PLANET_NOT_FOUND", domain=DOMAIN, metadata={"hint": "Add it.", "planet": "x"})
    status.details.add().Pack(info)
    error = status_to_error(status)
    assert type(error) is errors.FileNotIndexableError
    assert (error.message, error.hint) == ("no such planet: x", "Add it.")
    assert error.details == {"planet": "x", "status": "NOT_FOUND", "reason": "PLANET_NOT_FOUND"}


def test_a_reason_of_another_domain_is_not_ours() -> None:
    status = Status(code=_number(grpc.StatusCode.UNAVAILABLE), message="m")
    status.details.add().Pack(ErrorInfo(reason="INDEX_LOCKED", domain="example.com"))
    assert type(status_to_error(status)) is errors.UnavailableError


def test_a_missing_call_asks_for_an_update() -> None:
    error = status_to_error(Status(code=_number(grpc.StatusCode.UNIMPLEMENTED), message="Method not found!"))
    assert error.hint == "Update the server: it is older than this client."


def test_numbers_that_are_no_code_are_internal() -> None:
    assert type(status_to_error(Status(code=77))) is errors.InternalError


def test_lone_surrogates_do_not_lose_the_error() -> None:
    status = error_to_status(errors.FolderUnusableError("no directory caf\udce9", details={"path": "caf\udce9"}))
    error = status_to_error(status)
    assert (error.message, error.details) == ("no directory caf\\udce9", {"path": "caf\\udce9"})


def test_a_failed_run_gives_the_error_it_ended_with() -> None:
    run = IndexRun(
        "1",
        IndexRequest(),
        RunState.FAILED,
        created=0.0,
        error_reason="STORAGE_FULL",
        error_message="no space left",
        error_hint="Free some.",
    )
    assert _facts(run_error(run)) == (errors.StorageFullError, "no space left", "Free some.", {}, ())


# --- over a channel ---------------------------------------------------------------------------------------------------


class _Failing:
    """A service whose every call ends with the error at hand."""

    def __init__(self) -> None:
        self.error: EverfindError = errors.InternalError("not set")

    def search(self, request: searcher_pb.SearchRequest, context: grpc.ServicerContext) -> searcher_pb.SearchResponse:
        context.abort_with_status(rpc_status.to_status(error_to_status(self.error)))
        raise AssertionError("abort raises")


@pytest.fixture(scope="module")
def failing() -> Iterator[tuple[_Failing, searcher_grpc.SearcherServiceStub]]:
    service = _Failing()
    handler = grpc.unary_unary_rpc_method_handler(
        service.search, searcher_pb.SearchRequest.FromString, searcher_pb.SearchResponse.SerializeToString
    )
    server = grpc.server(futures.ThreadPoolExecutor(max_workers=1))
    server.add_generic_rpc_handlers(
        (grpc.method_handlers_generic_handler("everfind.searcher.v1.SearcherService", {"Search": handler}),)
    )
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    with grpc.insecure_channel(f"127.0.0.1:{port}") as channel:
        yield service, searcher_grpc.SearcherServiceStub(channel)
    server.stop(None).wait()


LONGEST = InvalidRequestError(
    "ü" * 5000,
    hint="→" * 5000,
    details={f"key_{i}": "€" * 5000 for i in range(50)},
    violations=tuple(FieldViolation("f" * 500, "é" * 5000) for _ in range(50)),
)


@pytest.mark.parametrize("error", [LONGEST, *(cls("it broke: ü", hint="mend it") for cls in CLASSES)], ids=repr)
def test_errors_cross_a_channel(
    failing: tuple[_Failing, searcher_grpc.SearcherServiceStub], error: EverfindError
) -> None:
    service, stub = failing
    service.error = error
    with pytest.raises(grpc.RpcError) as caught:
        stub.Search(searcher_pb.SearchRequest(query="q"), timeout=30)
    assert isinstance(caught.value, grpc.Call)
    status = rpc_status.from_call(caught.value)
    assert status is not None
    assert _facts(status_to_error(status)) == _facts(status_to_error(error_to_status(error)))
    assert type(status_to_error(status)) is type(error)
