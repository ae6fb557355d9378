"""A call for another workspace than the one that is here is refused, whatever the call; its own is not."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import grpc
import pytest
from google.protobuf.descriptor import MethodDescriptor
from google.protobuf.message import Message
from google.protobuf.message_factory import GetMessageClass
from grpc_status import rpc_status

from everfind_core.errors import WorkspaceNotFoundError
from everfind_core.model import IndexRequest
from everfind_core.ports import Embedder
from everfind_core.workspaces import check_workspace
from everfind_rpc.clients import indexer, searcher
from everfind_rpc.errors import status_to_error
from tests.contract.conftest import open_engines
from tests.support.serving import Remote, connected, raw_call, serving

CALLS = [
    method
    for service in (indexer.SERVICE, searcher.SERVICE)
    for method in service.methods
    if "workspace" in method.input_type.fields_by_name and not method.server_streaming
]


@pytest.fixture(scope="module")
def remote(tmp_path_factory: pytest.TempPathFactory, embedder: Embedder) -> Iterator[tuple[Remote, Path]]:
    base = tmp_path_factory.mktemp("here")
    with open_engines(base, embedder) as engines, serving(engines.services()) as address, connected(address) as remote:
        engines.indexer.index(IndexRequest(), lambda _event: None)
        yield remote, base


def answer(remote: Remote, method: MethodDescriptor, request: Message) -> grpc.Call:
    """The call, when it has ended."""
    name = f"{method.containing_service.full_name}/{method.name}"
    call = raw_call(remote.connection, name).future(request.SerializeToString(), timeout=20)
    call.exception()
    return call


def is_refused(call: grpc.Call) -> bool:
    status = rpc_status.from_call(call)
    return status is not None and isinstance(status_to_error(status), WorkspaceNotFoundError)


@pytest.mark.parametrize("method", CALLS, ids=lambda method: method.name)
def test_every_call_is_of_its_workspace(remote: tuple[Remote, Path], method: MethodDescriptor) -> None:
    kind = GetMessageClass(method.input_type)
    other = answer(remote[0], method, kind(workspace="elsewhere"))
    if other.code() is not grpc.StatusCode.UNIMPLEMENTED:
        assert is_refused(other)
        assert "'elsewhere'" in other.details()
        assert not is_refused(answer(remote[0], method, kind(workspace=f"{remote[1]}/code/src")))


@pytest.mark.parametrize("asked", ["", "team", "/srv/api", "/srv/api/", "/srv/api/src/x"])
def test_what_means_this_workspace(asked: str) -> None:
    check_workspace(asked, "team", ["/srv/api"])


@pytest.mark.parametrize("asked", ["Team", "/srv/ap", "/srv/apis", "/srv", "/", "srv/api", " "])
def test_what_means_another(asked: str) -> None:
    with pytest.raises(WorkspaceNotFoundError):
        check_workspace(asked, "team", ["/srv/api"])
