"""What follows from what all documents say."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from everfind_core.lifecycle import DEFAULT_VOCABULARY, Fate, Fates, Statement, join_refs, settle, split_refs
from everfind_core.lifecycle import read_document as read
from everfind_core.model import Document, FileRef, LineKind


def fates(documents: dict[str, str], folder: str = "f") -> Fates:
    """The fates of Markdown documents (YAML by their name), given by path."""
    statements = {}
    for path, text in documents.items():
        yaml = path.endswith(".yaml")
        document = Document(text, LineKind.CONFIG if yaml else LineKind.MARKDOWN, "yaml" if yaml else "markdown")
        if found := read(path, document, DEFAULT_VOCABULARY):
            statements[FileRef(folder, path)] = found.statement
    return settle(statements, DEFAULT_VOCABULARY)


def told(found: Fates) -> dict[str, tuple[str, tuple[str, ...]]]:
    """Status and successors of the documents that have some."""
    return {
        ref.path: (fate.status, tuple(one.path for one in fate.successors))
        for ref, fate in found.fates.items()
        if fate.status or fate.successors
    }


def messages(found: Fates) -> list[tuple[str, str]]:
    return [(problem.ref.path, problem.message) for problem in found.problems]


def test_references_by_path_link_number_and_title() -> None:
    new = {"reference/auth.md": "# Token handling\n"}
    for reference in (
        "reference/auth.md", "/reference/auth.md", "../reference/auth.md", "[the guide](../reference/auth.md#tokens)",
        "[[auth]]", "[[auth|The guide]]", "auth.md", "Token handling", '"Token handling"', "`../reference/auth.md`",
        "https://example.org/wiki/reference/auth.md", "xref:../reference/auth.md[guide]",
        "`guide <../reference/auth.md>`_",
        "f/reference/auth.md", "reference/auth",
    ):  # fmt: skip
        found = fates(new | {"notes/old.md": f"# Old\n\nSuperseded by: {reference}\n"})
        assert told(found) == {"notes/old.md": ("superseded", ("reference/auth.md",))}, reference
        assert messages(found) == []
    records = {"adr/0012-use-x.md": "# 12. Use X\n", "other/0012-y.md": "# 12. Y\n"}
    for reference in ("12", "#12", "ADR-12", "ADR 0012", "12. Use X", "[12. Use X](0012-use-x.md)", "0012-use-x"):
        found = fates(records | {"adr/0009-old.md": f"# 9. Old\n\n## Status\n\nSuperseded by {reference}\n"})
        assert told(found) == {"adr/0009-old.md": ("superseded", ("adr/0012-use-x.md",))}, reference


def test_a_new_document_says_what_it_replaces() -> None:
    for statement in ("Supersedes: old.md", "Replaces: [old](old.md)", "* Obsoletes: 'Old way'"):
        found = fates({"old.md": "# Old way\n\nStatus: accepted\n", "new.md": f"# New\n\n{statement}\n"})
        assert told(found) == {"old.md": ("superseded", ("new.md",))}, statement


def test_a_document_that_is_not_in_force_replaces_nothing() -> None:
    for status in ("draft", "proposed", "rejected", "withdrawn"):
        found = fates({"old.md": "# Old\n", "new.md": f"# New\n\nStatus: {status}\nSupersedes: old.md\n"})
        assert told(found) == {"new.md": (status, ())}


def test_rfcs_by_number() -> None:
    old = "Network Working Group\nRequest for Comments: 2616          X. Y\nObsoletes: 2068\n"
    new = "Internet Engineering Task Force\nRequest for Comments: 7230\nObsoletes: 2145, 2616          Z\n"
    found = fates({"rfc2616.txt": old, "rfc7230.txt": new, "rfc2068.txt": "Request for Comments: 2068\n"})
    assert told(found) == {
        "rfc2068.txt": ("superseded", ("rfc7230.txt",)), "rfc2616.txt": ("superseded", ("rfc7230.txt",)),
    }  # fmt: skip
    assert messages(found) == [("rfc7230.txt", "what it replaces, '2145', is not in the index")]


def test_chains_end_at_the_last_one() -> None:
    chain = {f"{n}.md": f"# {n}\n\nSuperseded by: {n + 1}.md\n" for n in range(5)} | {"5.md": "# 5\n"}
    assert told(fates(chain)) == {f"{n}.md": ("superseded", ("5.md",)) for n in range(5)}


def test_several_successors() -> None:
    found = fates({"a.md": "---\nsuperseded_by: [b.md, c.md]\n---\n", "b.md": "# B\n", "c.md": "# C\n"})
    assert told(found) == {"a.md": ("superseded", ("b.md", "c.md"))}


def test_a_missing_successor_is_told() -> None:
    found = fates({"a.md": "# A\n\nStatus: superseded by gone.md\n"})
    assert told(found) == {"a.md": ("superseded", ())}
    assert messages(found) == [("a.md", "its successor 'gone.md' is not in the index")]


def test_documents_in_a_circle_keep_their_own_status_and_are_told_of() -> None:
    circle = {"a.md": "# A\n\nSuperseded by: b.md\n", "b.md": "# B\n\nStatus: superseded\nSuperseded by: a.md\n"}
    found = fates(circle | {"c.md": "# C\n\nSuperseded by: a.md\n"})
    assert told(found) == {"b.md": ("superseded", ()), "c.md": ("superseded", ("a.md",))}
    assert messages(found) == [("a.md", "it and b.md replace each other in a circle")]


def test_rejected_stays_rejected_and_has_a_successor() -> None:
    found = fates({"a.md": "# A\n\nStatus: rejected\nSuperseded-By: b.md\n", "b.md": "# B\n"})
    assert told(found) == {"a.md": ("rejected", ("b.md",))}


def test_metadata_speaks_for_the_readme_beside_it() -> None:
    found = fates(
        {
            "keps/1-old/README.md": "# KEP-1: Old\n",
            "keps/1-old/kep.yaml": "title: Old\nkep-number: 1\nstatus: implemented\n",
            "keps/2-new/README.md": "# KEP-2: New\n",
            "keps/2-new/kep.yaml": "title: New\nkep-number: 2\nstatus: implementable\nreplaces:\n  - /keps/1-old\n",
        }
    )
    new = ("superseded", ("keps/2-new/README.md",))
    assert told(found) == {
        "keps/1-old/README.md": new, "keps/1-old/kep.yaml": new,
        "keps/2-new/README.md": ("implementable", ()), "keps/2-new/kep.yaml": ("implementable", ()),
    }  # fmt: skip


def test_equally_near_documents_are_no_answer() -> None:
    found = fates({"x/1-a.md": "# 1. A\n", "y/1-b.md": "# 1. B\n", "z/2-c.md": "# 2. C\n\nSuperseded by: 1\n"})
    assert told(found) == {"z/2-c.md": ("superseded", ())}


def test_other_folders() -> None:
    old, new = FileRef("notes", "old.md"), FileRef("guide", "auth.md")
    said = {old: Statement(superseded_by=("guide/auth.md",)), new: Statement(title="Auth")}
    assert settle(said, DEFAULT_VOCABULARY).fates[old] == Fate("superseded", "", (new,))


PATHS = st.lists(st.sampled_from("abc.é ,"), min_size=1, max_size=5).map("".join)


@given(st.lists(st.builds(FileRef, st.sampled_from(["f", "g h"]), st.lists(PATHS, min_size=1).map("/".join))))
def test_references_are_stored_and_read(refs: list[FileRef]) -> None:
    assert split_refs(join_refs(refs)) == tuple(refs)


NAMES = [FileRef("f", f"{n}.md") for n in range(6)]
GRAPHS = st.dictionaries(
    st.sampled_from(NAMES),
    st.builds(
        Statement,
        status=st.sampled_from(["", "accepted", "superseded", "draft"]),
        superseded_by=st.lists(st.sampled_from([ref.path for ref in NAMES]), max_size=2).map(tuple),
        supersedes=st.lists(st.sampled_from([ref.path for ref in NAMES]), max_size=2).map(tuple),
    ),
)


@given(GRAPHS)
def test_any_graph(statements: dict[FileRef, Statement]) -> None:
    found = settle(statements, DEFAULT_VOCABULARY)
    assert found == settle(dict(reversed(statements.items())), DEFAULT_VOCABULARY)
    assert found.fates.keys() == statements.keys()
    for ref, fate in found.fates.items():
        assert ref not in fate.successors
        assert all(one in statements for one in fate.successors)
        assert not fate.successors or fate.status == "superseded"
