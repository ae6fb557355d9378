"""What documents say of each other that is wrong, for `status` and `doctor`."""

from __future__ import annotations

from everfind_core.model import HealthFinding, Severity
from everfind_indexer.catalog import Catalog

MOST_FINDINGS = 20

_HINT = "Correct the reference in the document: a path, a link, a number or a title of an indexed one."


def document_findings(catalog: Catalog) -> tuple[HealthFinding, ...]:
    """What is wrong with what documents say of each other."""
    problems = catalog.lives.problems()
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
