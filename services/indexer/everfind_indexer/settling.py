"""The end of a run, for documents: what all of them say together, brought into the store where it says otherwise."""

from __future__ import annotations

from itertools import islice

from everfind_core.lifecycle import Vocabulary, settle
from everfind_core.model import HealthFinding, Severity
from everfind_indexer.catalog import Catalog
from everfind_indexer.target import Target

RESTATED_FILES = 1_000
MOST_FINDINGS = 20

_HINT = "Correct the reference in the document: a path, a link, a number or a title of an indexed one."


def settle_documents(target: Target, vocabulary: Vocabulary) -> None:
    """Give every document the fate that follows from all statements. Embeds nothing; may be repeated at any time."""
    if target.catalog.is_settled():
        return
    documents = target.catalog.documents()
    settled = settle({ref: statement for ref, (statement, _) in documents.items()}, vocabulary)
    changed = {ref: fate for ref, fate in settled.fates.items() if fate != documents[ref][1]}
    target.catalog.doubt_fates(changed)
    rest = iter(changed.items())
    while part := dict(islice(rest, RESTATED_FILES)):
        target.store.restate(part)
    target.catalog.record_fates(changed, settled.problems, generation=target.store.generation())


def document_findings(catalog: Catalog) -> tuple[HealthFinding, ...]:
    """What is wrong with what documents say of each other."""
    problems = catalog.problems()
    findings = [
        HealthFinding(
            "documents", Severity.WARNING, f"{problem.ref.folder}/{problem.ref.path}: {problem.message}", _HINT
        )
        for problem in problems[:MOST_FINDINGS]
    ]
    if len(problems) > MOST_FINDINGS:
        more = len(problems) - MOST_FINDINGS
        findings.append(HealthFinding("documents", Severity.WARNING, f"{more:,} more statements lead nowhere", _HINT))
    return tuple(findings)
