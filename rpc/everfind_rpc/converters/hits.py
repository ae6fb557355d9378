"""Hits, and why they are there."""

from __future__ import annotations

from everfind.searcher.v1 import hit_pb2 as pb
from everfind_core.model import (
    Contribution,
    Hit,
    LexicalRank,
    Provenance,
    ProvenanceLabel,
    Relation,
    RerankRank,
    SemanticRank,
)
from everfind_rpc.converters.wire import EnumTable, maybe

PROVENANCE_LABELS = EnumTable(
    {
        ProvenanceLabel.SEMANTIC: pb.PROVENANCE_LABEL_SEMANTIC,
        ProvenanceLabel.LEXICAL: pb.PROVENANCE_LABEL_LEXICAL,
        ProvenanceLabel.BOTH: pb.PROVENANCE_LABEL_BOTH,
        ProvenanceLabel.EXACT: pb.PROVENANCE_LABEL_EXACT,
        ProvenanceLabel.GRAPH: pb.PROVENANCE_LABEL_GRAPH,
    }
)
RELATIONS = EnumTable(
    {
        Relation.CALLER: pb.RELATION_CALLER,
        Relation.CALLEE: pb.RELATION_CALLEE,
        Relation.SIMILAR: pb.RELATION_SIMILAR,
        Relation.SUCCESSOR: pb.RELATION_SUCCESSOR,
        Relation.REFERENCE: pb.RELATION_REFERENCE,
    }
)


def semantic_rank_to_proto(place: SemanticRank) -> pb.SemanticRank:
    """A place in the vector arm as a message."""
    return pb.SemanticRank(rank=place.rank, cosine=place.cosine)


def semantic_rank_from_proto(message: pb.SemanticRank) -> SemanticRank:
    """A place in the vector arm from its message."""
    return SemanticRank(rank=message.rank, cosine=message.cosine)


def lexical_rank_to_proto(place: LexicalRank) -> pb.LexicalRank:
    """A place in the lexical arm as a message."""
    return pb.LexicalRank(rank=place.rank, bm25=place.bm25)


def lexical_rank_from_proto(message: pb.LexicalRank) -> LexicalRank:
    """A place in the lexical arm from its message."""
    return LexicalRank(rank=message.rank, bm25=message.bm25)


def rerank_rank_to_proto(place: RerankRank) -> pb.RerankRank:
    """A place after reranking as a message."""
    return pb.RerankRank(rank=place.rank, score=place.score)


def rerank_rank_from_proto(message: pb.RerankRank) -> RerankRank:
    """A place after reranking from its message."""
    return RerankRank(rank=message.rank, score=message.score)


def provenance_to_proto(provenance: Provenance) -> pb.Provenance:
    """A hit's provenance as a message."""
    return pb.Provenance(
        label=PROVENANCE_LABELS.to_proto(provenance.label),
        semantic=maybe(semantic_rank_to_proto, provenance.semantic),
        lexical=maybe(lexical_rank_to_proto, provenance.lexical),
        exact=provenance.exact,
        rerank=maybe(rerank_rank_to_proto, provenance.rerank),
    )


def provenance_from_proto(message: pb.Provenance) -> Provenance:
    """A hit's provenance from its message; an unknown label reads as both."""
    return Provenance(
        label=PROVENANCE_LABELS.of_answer(message.label, ProvenanceLabel.BOTH),
        semantic=semantic_rank_from_proto(message.semantic) if message.HasField("semantic") else None,
        lexical=lexical_rank_from_proto(message.lexical) if message.HasField("lexical") else None,
        exact=message.exact,
        rerank=rerank_rank_from_proto(message.rerank) if message.HasField("rerank") else None,
    )


def contribution_to_proto(part: Contribution) -> pb.Contribution:
    """A ranking rule's contribution as a message."""
    return pb.Contribution(rule=part.rule, value=part.value)


def contribution_from_proto(message: pb.Contribution) -> Contribution:
    """A ranking rule's contribution from its message."""
    return Contribution(rule=message.rule, value=message.value)


def hit_to_proto(hit: Hit) -> pb.Hit:
    """A hit as a message."""
    return pb.Hit(
        chunk_id=hit.chunk_id,
        folder=hit.folder,
        path=hit.path,
        absolute_path=hit.absolute_path,
        start_line=hit.start_line,
        end_line=hit.end_line,
        score=hit.score,
        provenance=provenance_to_proto(hit.provenance),
        text=hit.text,
        symbol=hit.symbol,
        kind=hit.kind,
        language=hit.language,
        heading=hit.heading,
        status=hit.status,
        date=hit.date,
        successor=hit.successor,
        page=hit.page,
        tokens=hit.tokens,
        relation=pb.RELATION_UNSPECIFIED if hit.relation is None else RELATIONS.to_proto(hit.relation),
        relation_to=hit.relation_to,
        relation_path=hit.relation_path,
        explain=[contribution_to_proto(part) for part in hit.explain],
    )


def hit_from_proto(message: pb.Hit) -> Hit:
    """A hit from its message; an unknown relation reads as similar."""
    related = message.relation != pb.RELATION_UNSPECIFIED
    return Hit(
        chunk_id=message.chunk_id,
        folder=message.folder,
        path=message.path,
        absolute_path=message.absolute_path,
        start_line=message.start_line,
        end_line=message.end_line,
        score=message.score,
        provenance=provenance_from_proto(message.provenance),
        text=message.text,
        symbol=message.symbol,
        kind=message.kind,
        language=message.language,
        heading=message.heading,
        status=message.status,
        date=message.date,
        successor=message.successor,
        page=message.page,
        tokens=message.tokens,
        relation=RELATIONS.of_answer(message.relation, Relation.SIMILAR) if related else None,
        relation_to=message.relation_to,
        relation_path=message.relation_path,
        explain=tuple(contribution_from_proto(part) for part in message.explain),
    )
