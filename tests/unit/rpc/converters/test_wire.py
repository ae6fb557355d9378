"""What only the wire can get wrong: unknown values, absent fields, batches that do not add up."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst

from everfind.common.v1 import corpus_pb2, status_pb2
from everfind.embedder.v1 import embedder_service_pb2 as embedder_pb
from everfind.indexer.v1 import indexer_service_pb2 as indexer_pb
from everfind.indexer.v1 import run_pb2
from everfind.searcher.v1 import hit_pb2
from everfind.searcher.v1 import searcher_service_pb2 as searcher_pb
from everfind_core import model
from everfind_core.errors import EverfindError, InvalidRequestError, UnavailableError
from everfind_rpc.converters import corpus, embedding, gathering, hits, indexing, related, search, status
from everfind_rpc.converters.embedding import TextInput, TokenInput, TokenizerFile

UNKNOWN: Any = 99


def _violation(error: EverfindError) -> str:
    (violation,) = error.violations
    return violation.field


# --- requests ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("convert", "empty", "expected"),
    [
        (search.search_request_from_proto, searcher_pb.SearchRequest(), model.SearchRequest(query="")),
        (related.related_request_from_proto, searcher_pb.FindRelatedRequest(), model.RelatedRequest()),
        (corpus.grep_request_from_proto, indexer_pb.GrepRequest(), model.GrepRequest(pattern="")),
        (corpus.read_file_request_from_proto, indexer_pb.ReadFileRequest(), model.ReadFileRequest("", "")),
        (indexing.index_request_from_proto, run_pb2.CreateIndexRunRequest(), model.IndexRequest()),
    ],
)
def test_an_empty_message_has_the_defaults_of_the_core(
    convert: Callable[[Any], object], empty: object, expected: object
) -> None:
    assert convert(empty) == expected


@pytest.mark.parametrize(
    ("convert", "message", "field"),
    [
        (search.search_request_from_proto, searcher_pb.SearchRequest(mode=UNKNOWN), "mode"),
        (related.related_request_from_proto, searcher_pb.FindRelatedRequest(relations=[UNKNOWN]), "relations"),
        (
            related.related_request_from_proto,
            searcher_pb.FindRelatedRequest(relations=[hit_pb2.RELATION_UNSPECIFIED]),
            "relations",
        ),
        (
            gathering.gather_request_from_proto,
            searcher_pb.GatherRequest(workspace="a", search=searcher_pb.SearchRequest(workspace="b")),
            "search.workspace",
        ),
        (embedding.embed_request_from_proto, embedder_pb.EmbedRequest(), "input"),
        (
            embedding.embed_request_from_proto,
            embedder_pb.EmbedRequest(texts=embedder_pb.TextBatch(texts=["a"])),
            "kind",
        ),
        (
            embedding.embed_request_from_proto,
            embedder_pb.EmbedRequest(kind=UNKNOWN, texts=embedder_pb.TextBatch(texts=["a"])),
            "kind",
        ),
        (
            embedding.embed_request_from_proto,
            embedder_pb.EmbedRequest(kind=embedder_pb.INPUT_KIND_QUERY, tokens=embedder_pb.TokenBatch()),
            "kind",
        ),
        (
            embedding.embed_request_from_proto,
            embedder_pb.EmbedRequest(tokens=embedder_pb.TokenBatch(ids=bytes(8), lengths=[1])),
            "tokens.lengths",
        ),
        (
            embedding.embed_request_from_proto,
            embedder_pb.EmbedRequest(tokens=embedder_pb.TokenBatch(ids=bytes(7), lengths=[1])),
            "tokens.lengths",
        ),
        (
            embedding.embed_request_from_proto,
            embedder_pb.EmbedRequest(tokens=embedder_pb.TokenBatch(ids=bytes(4), lengths=[2, -1])),
            "tokens.lengths",
        ),
        (
            embedding.embed_request_from_proto,
            embedder_pb.EmbedRequest(tokens=embedder_pb.TokenBatch(ids=b"\xff" * 4, lengths=[1])),
            "tokens.ids",
        ),
    ],
)
def test_a_wrong_request_names_its_field(convert: Callable[[Any], object], message: object, field: str) -> None:
    with pytest.raises(InvalidRequestError) as caught:
        convert(message)
    assert _violation(caught.value) == field


def test_an_unknown_enum_value_lists_the_allowed_ones() -> None:
    with pytest.raises(InvalidRequestError) as caught:
        search.search_request_from_proto(searcher_pb.SearchRequest(mode=UNKNOWN))
    assert caught.value.message == "mode: 99 is no value that this version knows"
    assert caught.value.hint == "Use one of: hybrid, semantic, lexical."


@pytest.mark.parametrize(
    ("convert", "request_", "field"),
    [
        (search.search_request_to_proto, model.SearchRequest(query="caf\udce9"), "query"),
        (search.search_request_to_proto, model.SearchRequest(query="q", limit=2**31), "limit"),
        (search.search_request_to_proto, model.SearchRequest(query="q", wait_seconds=float("inf")), "wait_seconds"),
        (
            search.search_request_to_proto,
            model.SearchRequest(query="q", filters=model.Filters(include=("ok", "\ud800"))),
            "filters.include",
        ),
        (gathering.gather_request_to_proto, model.GatherRequest(model.SearchRequest("\ud800")), "query"),
        (gathering.gather_request_to_proto, model.GatherRequest(model.SearchRequest("q"), 2**40), "context_lines"),
        (related.related_request_to_proto, model.RelatedRequest(symbol="\ud800"), "symbol"),
        (corpus.grep_request_to_proto, model.GrepRequest("x", seconds=float("nan")), "seconds"),
        (corpus.grep_request_to_proto, model.GrepRequest("x", seconds=1e300), "seconds"),
        (corpus.read_file_request_to_proto, model.ReadFileRequest("f", "\udcff"), "path"),
        (indexing.index_request_to_proto, model.IndexRequest(max_files=-(2**40)), "max_files"),
        (embedding.rerank_request_to_proto, model.RerankRequest("q", ("\ud800",)), "texts"),
        (embedding.embed_request_to_proto, TextInput(("\ud800",), model.InputKind.QUERY), "texts"),
        (embedding.embed_request_to_proto, TokenInput((np.array([2**40]),)), "tokens"),
        (embedding.embed_request_to_proto, TokenInput((np.array([-1]),)), "tokens"),
    ],
)
def test_what_cannot_be_sent_names_its_field(convert: Callable[[Any], object], request_: object, field: str) -> None:
    with pytest.raises(InvalidRequestError) as caught:
        convert(request_)
    assert _violation(caught.value) == field


def test_values_out_of_range_reach_the_engine_unchanged() -> None:
    wrong = model.SearchRequest(query="", limit=0, graph_hops=-1, wait_seconds=-0.5, min_score=7.0)
    assert search.search_request_from_proto(search.search_request_to_proto(wrong)) == wrong


def test_the_workspace_of_a_gather_stands_once() -> None:
    message = gathering.gather_request_to_proto(model.GatherRequest(model.SearchRequest("q", workspace="w")))
    assert (message.workspace, message.search.workspace) == ("w", "")


# --- answers of a newer server ----------------------------------------------------------------------------------------


def test_unknown_values_of_an_answer_read_as_their_fallback() -> None:
    hit = hits.hit_from_proto(hit_pb2.Hit(relation=UNKNOWN, provenance=hit_pb2.Provenance(label=UNKNOWN)))
    assert (hit.relation, hit.provenance.label) == (model.Relation.SIMILAR, model.ProvenanceLabel.BOTH)
    skipped = corpus.skipped_file_from_proto(corpus_pb2.SkippedFile(reason=UNKNOWN))
    assert skipped.reason is model.SkipReason.UNREADABLE
    assert indexing.index_run_from_proto(run_pb2.IndexRun(state=UNKNOWN)).state is model.RunState.RUNNING
    finding = status.finding_from_proto(status_pb2.HealthFinding(severity=UNKNOWN))
    assert finding.severity is model.Severity.WARNING


def test_an_unknown_event_is_no_event() -> None:
    assert indexing.event_from_proto(indexer_pb.WatchIndexRunResponse(sequence=3)) is None


# --- batches ----------------------------------------------------------------------------------------------------------


@given(st.lists(st.text(max_size=20), max_size=5), st.sampled_from(model.InputKind))
def test_texts_survive(texts: list[str], kind: model.InputKind) -> None:
    batch = TextInput(tuple(texts), kind)
    message = embedding.embed_request_to_proto(batch, "w")
    assert message.workspace == "w"
    assert embedding.embed_request_from_proto(message) == batch


@given(st.lists(st.lists(st.integers(0, 2**31 - 1), max_size=6), max_size=5))
def test_tokens_survive(sequences: list[list[int]]) -> None:
    batch = TokenInput(tuple(np.array(ids, dtype=np.int64) for ids in sequences))
    received = embedding.embed_request_from_proto(embedding.embed_request_to_proto(batch))
    assert isinstance(received, TokenInput)
    assert [ids.tolist() for ids in received.sequences] == sequences
    assert all(ids.dtype == np.int64 for ids in received.sequences)


@given(npst.arrays(np.float32, npst.array_shapes(min_dims=2, max_dims=2, min_side=0, max_side=6)))
def test_vectors_survive_to_the_bit(vectors: npt.NDArray[np.float32]) -> None:
    message = embedding.vectors_to_proto(vectors, "m@1")
    received = embedding.vectors_from_proto(message)
    assert ((message.rows, message.dimensions), message.model_identity) == (vectors.shape, "m@1")
    assert received.dtype == np.float32
    assert (received.shape, received.flags.writeable) == (vectors.shape, True)
    assert received.tobytes() == vectors.tobytes()


def test_vectors_are_little_endian_whatever_their_layout() -> None:
    vectors = np.asfortranarray(np.array([[1.0, 2.0], [3.0, 4.0]], dtype=np.float32))
    message = embedding.vectors_to_proto(vectors, "m@1")
    assert message.vectors.hex() == "0000803f000000400000404000008040"


@pytest.mark.parametrize(("rows", "dimensions", "size"), [(2, 2, 12), (1, 1, 0), (-1, -1, 4)])
def test_vectors_that_do_not_add_up_are_refused(rows: int, dimensions: int, size: int) -> None:
    with pytest.raises(UnavailableError, match=f"{size} bytes for {rows} vectors of {dimensions}"):
        embedding.vectors_from_proto(embedder_pb.EmbedResponse(vectors=bytes(size), rows=rows, dimensions=dimensions))


# --- the tokenizer's stream -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [0, 1, 1 << 20, (2 << 20) + 5])
def test_a_tokenizer_survives_its_parts(size: int) -> None:
    tokenizer = TokenizerFile("m@1", content=bytes(range(256)) * (size // 256) + bytes(size % 256), bytes_per_token=2.5)
    parts = list(embedding.tokenizer_to_parts(tokenizer))
    assert parts[0].header.size_bytes == size
    assert max((len(part.data) for part in parts), default=0) <= 1 << 20
    assert embedding.tokenizer_from_parts(parts) == tokenizer


def test_a_tokenizer_without_content_is_an_estimate() -> None:
    (part,) = embedding.tokenizer_to_parts(TokenizerFile("m@1", bytes_per_token=2.0))
    assert part.header.format == embedder_pb.TOKENIZER_FORMAT_ESTIMATE


def test_a_tokenizer_that_lost_a_part_is_refused() -> None:
    parts = list(embedding.tokenizer_to_parts(TokenizerFile("m@1", content=bytes(3 << 20))))
    for broken in (parts[:-1], parts[1:], []):
        with pytest.raises(UnavailableError, match="did not arrive whole"):
            embedding.tokenizer_from_parts(broken)
