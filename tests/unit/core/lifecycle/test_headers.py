"""What documents in the usual formats say of themselves."""

from __future__ import annotations

from textwrap import dedent

import pytest
from hypothesis import given
from hypothesis import strategies as st

from everfind_core.errors import InvalidRequestError
from everfind_core.lifecycle import DEFAULT_VOCABULARY, Statement, Vocabulary, read_document
from everfind_core.model import Document, LineKind


def statement(text: str, path: str = "doc.md", language: str = "markdown", words: tuple[str, ...] = ()) -> Statement:
    kind = LineKind.CONFIG if language in ("yaml", "xml") else LineKind.MARKDOWN
    read = read_document(path, Document(dedent(text).lstrip(), kind, language), Vocabulary.with_words(words))
    assert read is not None
    return read.statement


def life(text: str, path: str = "doc.md") -> tuple[str, str, tuple[str, ...], tuple[str, ...]]:
    said = statement(text, path)
    return said.status, said.date, said.superseded_by, said.supersedes


SUPERSEDED = {
    "YAML front matter": """
        ---
        title: Tokens
        status: superseded
        date: 2026-03-01
        superseded_by: reference/auth.md
        ---
        # Tokens
        """,
    "YAML, quoted and with a list": """
        ---
        status: "Superseded"   # by the team
        date: '2026-03-01'
        superseded-by:
          - reference/auth.md
        ---
        """,
    "TOML front matter": """
        +++
        title = "Tokens"
        status = "superseded"
        date = 2026-03-01
        replaced_by = "reference/auth.md"
        +++
        """,
    "lines under the title": """
        # Tokens

        Status: Superseded
        Date: 2026-03-01
        Superseded-By: reference/auth.md

        ## Context
        """,
    "bullets": """
        # Tokens

        * Status: superseded
        * Deciders: us
        * Date: 2026-03-01
        * Superseded by: reference/auth.md
        """,
    "bold": """
        # Tokens

        **Status**: Superseded
        **Date:** March 1, 2026
        **Superseded by:** reference/auth.md
        """,
    "bold bullets": """
        # Tokens
        - **Status:** ~~accepted~~ superseded by reference/auth.md
        - **Date:** 2026-03-01
        """,
    "quote": """
        # Tokens
        > **Status**: Superseded by reference/auth.md
        > **Date**: 1 March 2026
        """,
    "table": """
        # Tokens

        | Key | Value |
        |-----|-------|
        | Status | Superseded |
        | Date | 2026-03-01 |
        | Superseded by | reference/auth.md |
        """,
    "table with keys as its first row": """
        # Tokens

        | Status | Date | Superseded by |
        |--------|------|---------------|
        | Superseded | 2026-03-01 | reference/auth.md |
        """,
    "one line": """
        # Tokens
        Status: Superseded by reference/auth.md | Date: 2026-03-01
        """,
    "field list": """
        Tokens
        ======

        :Status: Superseded
        :Date: 01-Mar-2026
        :Replaced-By: reference/auth.md

        Abstract
        --------
        """,
    "key lines before the text": """
        Title: Tokens
        Status: Superseded
        Superseded-By: reference/auth.md
        Created: 01-Mar-2026

        Abstract
        ========
        """,
    "preformatted": """
        <pre>
          BIP: 2
          Title: Tokens
          Status: Replaced
          Created: 2026-03-01
          Superseded-By: reference/auth.md
        </pre>

        ==Abstract==
        """,
    "Org": """
        #+TITLE: Tokens
        #+DATE: 2026-03-01
        #+STATUS: superseded
        #+SUPERSEDED_BY: reference/auth.md

        * Context
        """,
    "AsciiDoc attributes": """
        = Tokens
        :status: superseded
        :date: 2026-03-01
        :superseded-by: reference/auth.md

        == Context
        """,
    "AsciiDoc table": """
        = Tokens

        |===
        |Status
        |Superseded :x:

        |Created
        |2026-03-01

        |Superseded-By
        |reference/auth.md
        |===
        """,
    "section": """
        # 12. Tokens

        Date: 2026-03-01

        ## Status

        Superseded by reference/auth.md

        ## Context
        """,
    "section, as old tools spell it": """
        # 12. Tokens

        Date: 2026-03-01

        ## Status

        Accepted

        Superceded by reference/auth.md

        ## Context
        """,
}


@pytest.mark.parametrize("text", SUPERSEDED.values(), ids=SUPERSEDED)
def test_a_superseded_document(text: str) -> None:
    assert life(text) == ("superseded", "2026-03-01", ("reference/auth.md",), ())


def test_a_decision_record_with_a_link() -> None:
    text = """
        # 9. Use MySQL

        Date: 2016-02-12

        ## Status

        Accepted

        Supersedes [3. Use SQLite](0003-use-sqlite.md)

        Superseded by [12. Use PostgreSQL](0012-use-postgresql.md)

        ## Context
        Status: rejected
        """
    said = statement(text, "adr/0009-use-mysql.md")
    assert said.status == "superseded"
    assert said.superseded_by == ("[12. Use PostgreSQL](0012-use-postgresql.md)",)
    assert said.supersedes == ("[3. Use SQLite](0003-use-sqlite.md)",)
    assert set(said.numbers) == {("", 9)}


def test_an_rfc() -> None:
    text = """
        Network Working Group                                      R. Fielding
        Request for Comments: 2616                                   UC Irvine
        Obsoletes: 2068                                              J. Gettys
        Category: Standards Track                                   Compaq/W3C
                                                                     June 1999


                       Hypertext Transfer Protocol -- HTTP/1.1

        Status of this Memo

           This document specifies an Internet standards track protocol.
        """
    said = statement(text, "rfc2616.txt")
    assert (said.status, said.supersedes, said.numbers) == ("", ("2068",), (("rfc", 2616),))


def test_an_rfc_that_replaces_several() -> None:
    text = """
        Internet Engineering Task Force (IETF)                  R. Fielding, Ed.
        Request for Comments: 9110                                         Adobe
        STD: 97                                               M. Nottingham, Ed.
        Obsoletes: 2818, 7230, 7231, 7232, 7233, 7235,                    Fastly
                   7538, 7615, 7694                              J. Reschke, Ed.
        Updates: 3864                                                 greenbytes
        """
    said = statement(text, "rfc9110.txt")
    assert said.supersedes == ("2818, 7230, 7231, 7232, 7233, 7235,", "7538, 7615, 7694")


def test_metadata_beside_a_document() -> None:
    text = """
        title: Graceful shutdown
        kep-number: 2000
        owning-sig: sig-node
        status: replaced
        creation-date: 2020-08-01
        replaces:
          - "/keps/sig-node/1000-old"
        superseded-by: ["/keps/sig-node/3000-new"]
        """
    said = statement(text, "keps/sig-node/2000-graceful/kep.yaml", "yaml")
    assert (said.status, said.date, said.numbers) == ("superseded", "2020-08-01", (("kep", 2000),))
    assert (said.superseded_by, said.supersedes) == (("/keps/sig-node/3000-new",), ("/keps/sig-node/1000-old",))


def test_an_xml_document() -> None:
    text = """
        <?xml version='1.0'?>
        <xep><header>
          <title>Message Archiving</title>
          <number>0136</number>
          <status>Deprecated</status>
          <supersedes/>
          <supersededby><spec>XEP-0313</spec><spec>XEP-0059</spec></supersededby>
          <revision><version>1.3</version><date>2017-11-15</date></revision>
        </header></xep>
        """
    said = statement(text, "xep-0136.xml", "xml")
    assert (said.title, said.status, said.date) == ("Message Archiving", "deprecated", "2017-11-15")
    assert (said.superseded_by, said.numbers) == (("XEP-0313", "XEP-0059"), (("", 136), ("xep", 136)))


def test_configuration_is_no_document() -> None:
    for text in ("status: deprecated\nport: 3\n", "kind: Pod\nmetadata:\n  title: x\nstatus: {}\n"):
        assert read_document("a.yaml", Document(text, LineKind.CONFIG, "yaml"), DEFAULT_VOCABULARY) is None
    code = Document('"""\nStatus: superseded\n"""\n', LineKind.CODE, "python")
    assert read_document("a.py", code, DEFAULT_VOCABULARY) is None


@pytest.mark.parametrize(
    ("value", "status"),
    [
        ("Accepted", "accepted"),
        ("**Rejected**", "rejected"),
        ("Closed / Withdrawn", "withdrawn"),
        ("Implemented (Swift 5.5)", "implemented"),
        ("Final, not superseded by anything", "final"),
        ("Accepted, but will be superseded by ADR 4", "accepted"),
        ("Partially superseded by ADR 4", ""),
        ("Rejected by the author", "rejected"),
        ("Historic", "obsolete"),
        ("Declined", "rejected"),
        ("Deprecated in favour of ADR 4", "superseded"),
        ("proposed | rejected | accepted | deprecated | superseded by [ADR-0005](0005-example.md)", ""),
        ("404 when the token was withdrawn or is otherwise not valid", ""),
        ("Stagnant", "stagnant"),
    ],
)
def test_status_words(value: str, status: str) -> None:
    assert statement(f"# T\n\nStatus: {value}\n").status == status


@pytest.mark.parametrize("nothing", ["", "None", "N/A", "-", "~", "TBD"])
def test_no_successor(nothing: str) -> None:
    assert life(f"---\nstatus: accepted\nsuperseded_by: {nothing}\nreplaces: {nothing}\n---\n") == (
        "accepted",
        "",
        (),
        (),
    )


@pytest.mark.parametrize(
    ("sentence", "found"),
    [
        ("This RFC has been superseded by [RFC 12](0012-x.md).", ("[RFC 12](0012-x.md).",)),
        ("> **Note**: This document was replaced by `guide.md`.", ("`guide.md`.",)),
        ("_Superseded by ADR-12_", ("ADR-12",)),
        ("This section is replaced by `guide.md`.", ()),
        ("This document was replaced by something better.", ()),
    ],
)
def test_sentences(sentence: str, found: tuple[str, ...]) -> None:
    assert statement(f"# T\n\n{sentence}\n").superseded_by == found


RUNNING = "These words are of running text, which is too long to stand beside a line of its own.\n"


@pytest.mark.parametrize(
    ("text", "date"),
    [
        ("# T\n\n1 March 2026\n\nText.\n", "2026-03-01"),
        (f"# T\n\n{RUNNING}1 March 2026\n\nText.\n", ""),
        (f"# T\n\n1 March 2026\n{RUNNING}", ""),
    ],
)
def test_a_date_on_a_line_of_its_own_is_the_documents_where_no_running_text_touches_it(text: str, date: str) -> None:
    assert statement(text).date == date


def test_a_row_of_values_is_not_read_as_keys() -> None:
    text = "# T\n\n| Title | Date |\n|---|---|\n| Superseded by | 2026-03-01 |\n"
    assert life(text) == ("", "2026-03-01", (), ())


def test_a_date_beside_the_status() -> None:
    assert life("# 7. Grammars\n\nStatus: accepted · 2026-11-30\n")[:2] == ("accepted", "2026-11-30")
    assert life("# 7. Grammars\n\n## Status\n\nAccepted (3 May 2019)\n")[:2] == ("accepted", "2019-05-03")
    assert life("# T\n\nDate: 2020-01-01\nStatus: accepted 2026-11-30\n")[1] == "2020-01-01"


def test_what_is_proposed_in_its_place_counts_once_a_document_is_over() -> None:
    text = "<pre>\n  BIP: 1\n  Title: T\n  Status: {}\n  Assigned: 2011-09-19\n  Proposed-Replacement: 2\n</pre>\n"
    assert life(text.format("Closed"), "bip-0001.mediawiki") == ("closed", "2011-09-19", ("2",), ())
    assert life(text.format("Withdrawn"), "bip-0001.mediawiki") == ("withdrawn", "2011-09-19", ("2",), ())
    assert life(text.format("Deployed"), "bip-0001.mediawiki") == ("deployed", "2011-09-19", (), ())
    assert life("# T\n\nStatus: Closed (rejected)\n")[0] == "rejected"


def test_comments_in_yaml() -> None:
    choices = "provisional|implementable|implemented|deferred|rejected|withdrawn|replaced"
    for comment in (f"# {choices}", f"#{choices}", f"#|{choices}"):
        said = statement(f"title: T\nstatus: implemented {comment}\nkep-number: 7\n", "kep.yaml", "yaml")
        assert said.status == "implemented"
    said = statement("title: T\nstatus: replaced\nsuperseded-by: ADR #12 # since May\n", "a/kep.yaml", "yaml")
    assert said.superseded_by == ("ADR #12",)


def test_only_the_head_counts() -> None:
    assert life("# T\n\n## A\n\n- Status: superseded\n- Superseded by: b.md\n") == ("", "", (), ())
    body = "\n\n".join(f"paragraph {n}" for n in range(100))
    assert life(f"# T\n\n{body}\n\nStatus: superseded\n") == ("", "", (), ())


def test_a_flag_in_front_matter() -> None:
    assert life("---\ntitle: T\narchived: true\n---\n")[0] == "archived"
    assert life("---\ntitle: T\ndeprecated: false\n---\n")[0] == ""


def test_further_words() -> None:
    text = "---\nZustand: veraltet\nersetzt durch: neu.md\n---\n"
    words = ("zustand=status", "veraltet=obsolete", "Ersetzt durch=superseded_by")
    said = statement(text, words=words)
    assert (said.status, said.superseded_by) == ("obsolete", ("neu.md",))
    assert statement(text).superseded_by == ()
    for wrong in ("zustand", "=status", "zustand=wichtig"):
        with pytest.raises(InvalidRequestError, match="lifecycle_words"):
            Vocabulary.with_words([wrong])


@given(st.text(alphabet=st.sampled_from("#-*|:=`>[]()~. \t\nabSTatus:supersded by12_"), max_size=400))
def test_any_text_can_be_read(text: str) -> None:
    for kind, language in ((LineKind.MARKDOWN, "markdown"), (LineKind.CONFIG, "yaml"), (LineKind.CONFIG, "xml")):
        read = read_document("a/1-b.md", Document(text, kind, language), DEFAULT_VOCABULARY)
        if read is not None:
            assert all(0 <= line <= text.count("\n") for line in read.lines)


@pytest.mark.parametrize(
    ("line", "status", "by"),
    [
        ('* Status: <span style="color:red">**Rejected**</span>', "rejected", ()),
        ("Status: <b>Superseded</b> by ADR-7", "superseded", ("ADR-7",)),
        ('Status: superseded by <a class="x" href="new.md">this way</a>', "superseded", ("[this way](new.md)",)),
        ("Status: <del>Deprecated</del> Accepted", "accepted", ()),
    ],
)
def test_tags_of_html_in_a_status_say_nothing(line: str, status: str, by: tuple[str, ...]) -> None:
    said = life(f"# 3. Crates\n\n{line}\n\n## Context\n")
    assert (said[0], said[2]) == (status, by)


@pytest.mark.parametrize("mark", [">", ">-", ">+"])
def test_a_folded_scalar_is_one_line(mark: str) -> None:
    text = f"---\nstatus: {mark}\n  Superseded by\n  [the new way](new.md)\n---\n# Old\n"
    assert life(text)[::2] == ("superseded", ("[the new way](new.md)",))


@pytest.mark.parametrize(
    ("line", "status"), [("draft: true", "draft"), ("draft: yes", "draft"), ("draft: false", ""), ("draft: 2", "")]
)
def test_a_draft_says_so(line: str, status: str) -> None:
    assert life(f"---\n{line}\nsupersedes: old.md\n---\n# New\n")[0] == status
