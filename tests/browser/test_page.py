"""The page as a person uses it: by keyboard, in light and dark, and with hostile texts in its hits."""

from __future__ import annotations

from typing import Literal

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from everfind_core.errors import IndexMissingError, UnavailableError
from everfind_core.model import Abstention, Coverage, Hidden, SearchAnswer, SearchRequest
from tests.browser.conftest import HOSTILE, Seen, Site
from tests.support.web import TOKEN

pytestmark = [pytest.mark.browser, pytest.mark.timeout(300)]


def search(page: Page, site: Site, question: str = "refresh the token") -> None:
    page.goto(site.with_token)
    expect(page.locator("#index-summary")).not_to_be_empty()
    page.locator("#query").fill(question)
    page.keyboard.press("Enter")
    expect(page.locator(".hit")).to_have_count(3)


def focused(page: Page) -> str:
    found: str = page.evaluate("document.activeElement.id || document.activeElement.textContent")
    return found


def test_a_search_shows_hits_with_marks_badges_and_coverage(page: Page, site: Site, seen: Seen) -> None:
    search(page, site)
    assert TOKEN not in page.url
    code = page.locator(".hit").first
    expect(code.locator(".place")).to_have_text("api/src/auth.py 42–60")
    assert code.locator("mark").all_text_contents() == ["refresh", "token"]
    assert code.locator(".line").nth(2).get_attribute("data-n") == "44"
    expect(code.locator(".badge")).to_have_text("found by meaning and words (0.71)")
    old = page.locator(".hit").nth(1)
    expect(old.locator(".badge.status")).to_have_text("superseded → auth.md; 2025-01-10")
    expect(page.locator("#summary")).to_have_text(
        "3 hits. Searched 1,203 files, 9,000 chunks; left out: 12 ignored, 3 binary. "
    )
    page.locator("#index > summary").click()
    expect(page.locator("#index-body")).to_contain_text("all-MiniLM-L6-v2")
    expect(page.locator(".finding")).to_have_text(f"warning: a warning {HOSTILE} Do that.")
    assert {url.removeprefix(site.url).split("?")[0] for url in seen.requests if url.startswith(site.url)} == {
        "", "everfind.js", "everfind.css", "calls.js", "dom.js", "hits.js", "state.js", "icon.svg", "api/status",
        "api/gather",
    }  # fmt: skip
    assert [url for url in seen.requests if not url.startswith(site.url)] == []
    assert seen.complaints == []


def test_texts_are_never_markup(page: Page, site: Site, seen: Seen) -> None:
    search(page, site, HOSTILE)
    hostile = page.locator(".hit").nth(2)
    expect(hostile.locator(".title")).to_have_text(HOSTILE)
    expect(hostile.locator(".place")).to_contain_text(HOSTILE)
    expect(hostile.locator(".line").first).to_contain_text("onerror")
    assert page.locator("img").count() == 0
    assert page.title() == f"{HOSTILE} – everfind"
    assert seen.complaints == []


def test_the_keyboard_is_enough(page: Page, site: Site) -> None:
    page.goto(site.with_token)
    expect(page.locator("#index-summary")).not_to_be_empty()
    assert focused(page) == "query"
    page.keyboard.type("token?")
    page.keyboard.press("Enter")
    expect(page.locator(".hit")).to_have_count(3)
    page.keyboard.press("Escape")
    for key, place in (
        ("j", "api/src/auth.py"),
        ("j", "api/old/auth.md"),
        ("k", "api/src/auth.py"),
        ("k", "api/src/auth.py"),
    ):
        page.keyboard.press(key)
        assert focused(page).startswith(place)
    page.keyboard.press("Enter")
    hit = page.locator(".hit").first
    expect(hit.locator(".place")).to_have_attribute("aria-expanded", "true")
    expect(hit.locator("pre")).to_contain_text("a line of the file")
    assert (site.engines.reads[-1].path, site.engines.reads[-1].start_line) == ("src/auth.py", 17)
    page.keyboard.press("Enter")
    expect(hit.locator(".place")).to_have_attribute("aria-expanded", "false")
    page.keyboard.press("?")
    expect(page.locator("#help")).to_be_visible()
    page.keyboard.press("j")  # belongs to the dialog
    page.keyboard.press("Escape")
    expect(page.locator("#help")).to_be_hidden()
    page.keyboard.press("/")
    assert focused(page) == "query"
    assert page.locator("#query").input_value() == "token?"
    page.keyboard.press("Escape")
    page.keyboard.press("f")
    assert page.evaluate("document.activeElement.name") == "languages"


def test_filters_pages_and_the_back_button(page: Page, site: Site) -> None:
    site.engines.next_cursor = "page-2"
    search(page, site)
    page.keyboard.press("Escape")
    page.keyboard.press("n")
    expect(page.locator(".hit")).to_have_count(6)
    assert site.engines.searches[-1].cursor == "page-2"
    page.locator("#filters > summary").click()
    page.get_by_label("Language").fill("python, go")
    page.get_by_label("Since").fill("2026-01-31")
    page.get_by_label("Superseded and hidden documents, too").check()
    expect(page.locator("#filter-count")).to_have_text("(3)")
    expect(page.locator(".hit")).to_have_count(3)
    filters = site.engines.searches[-1].filters
    assert (filters.languages, filters.since, filters.all_statuses) == (("python", "go"), "2026-01-31", True)
    page.reload()
    expect(page.locator(".hit")).to_have_count(3)
    expect(page.locator("#filter-count")).to_have_text("(3)")
    assert site.engines.searches[-1].filters == filters
    page.locator("#query").fill("another")
    page.locator("#query").press("Enter")
    expect(page).to_have_title("another – everfind")
    page.go_back()
    expect(page.locator("#query")).to_have_value("refresh the token")


def test_another_workspace_is_chosen_bookmarked_and_left(page: Page, site: Site) -> None:
    search(page, site)
    billing = str(site.projects / "billing")
    choice = page.get_by_label("Workspace")
    assert choice.locator("option").all_text_contents() == ["own folders", billing, str(site.projects / "search")]
    page.locator("#filters > summary").click()
    page.get_by_label("Language").fill("python")
    page.locator("#query").focus()
    choice.select_option(billing)
    expect(page.locator(".hit")).to_have_count(1)
    expect(page.locator(".place")).to_have_text("api/billing.py 42–60")
    expect(page.locator("#filter-count")).to_be_empty()
    page.locator(".place").click()
    expect(page.locator(".hit pre")).to_contain_text("one")
    page.reload()
    expect(page.locator(".place")).to_have_text("api/billing.py 42–60")
    expect(choice).to_have_value(billing)
    page.go_back()
    expect(page.locator(".hit")).to_have_count(3)
    expect(choice).to_have_value("")
    page.goto(f"{site.url}?query=x&workspace=/nowhere#token={TOKEN}")
    expect(page.get_by_role("alert")).to_contain_text("there is no workspace")
    expect(page.locator(".hit")).to_have_count(0)
    choice.select_option("")
    expect(page.locator(".hit")).to_have_count(3)
    expect(page.get_by_role("alert")).to_be_empty()


def test_a_page_that_failed_can_be_asked_again_and_back_at_the_start_nothing_is_left(page: Page, site: Site) -> None:
    site.engines.next_cursor = "page-2"
    search(page, site)
    site.engines.error = UnavailableError("the searcher does not answer")
    page.get_by_role("button", name="More hits").click()
    expect(page.get_by_role("alert")).to_have_text("the searcher does not answer")
    site.engines.error = None
    page.get_by_role("button", name="More hits").click()
    expect(page.locator(".hit")).to_have_count(6)
    expect(page.get_by_role("alert")).to_be_empty()
    page.go_back()
    expect(page.locator(".hit")).to_have_count(0)
    expect(page.locator("#summary")).to_be_empty()
    expect(page.get_by_role("button", name="More hits")).to_be_hidden()
    expect(page).to_have_title("everfind")


def test_silence_and_hidden_documents_are_said(page: Page, site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    def silent(request: SearchRequest, **_: object) -> SearchAnswer:
        site.engines.searches.append(request)
        hidden = Hidden(2, {"superseded": 2}, "old.md", "api")
        return SearchAnswer(request.query, 7, (), Coverage(10, 80), Abstention(0.41, 0.55), hidden, warnings=("odd",))

    monkeypatch.setattr(site.engines, "search", silent)
    monkeypatch.setattr(site.engines, "hits", ())
    page.goto(f"{site.url}?query=nothing#token={TOKEN}")
    said = (
        "No relevant results: the best scores 0.41, and 0.55 are needed. Searched 10 files, 80 chunks. 2 files hidden"
    )
    expect(page.locator("#summary")).to_contain_text(said)
    page.get_by_role("button", name="Show them").click()
    expect(page.locator("#filter-count")).to_have_text("(1)")
    assert site.engines.searches[-1].filters.all_statuses


def test_errors_are_sentences_and_a_token_is_asked_for(page: Page, site: Site) -> None:
    page.goto(site.url)
    expect(page.get_by_role("alert")).to_contain_text("This page needs the server's token.")
    page.get_by_label("Token of this server").fill("not the token ✓")
    page.keyboard.press("Enter")
    expect(page.get_by_role("alert")).to_contain_text("This page needs the server's token.")
    site.engines.error = IndexMissingError("there is no index yet", hint="Run `everfind index`.")
    page.get_by_label("Token of this server").fill(TOKEN)
    page.keyboard.press("Enter")
    expect(page.get_by_role("alert")).to_have_text("there is no index yetRun `everfind index`.")
    site.engines.error = None
    page.reload()
    expect(page.locator("#index-summary")).not_to_be_empty()
    expect(page.locator("#login")).to_be_hidden()
    site.engines.error = UnavailableError("the searcher does not answer")
    page.locator("#query").fill("x")
    page.keyboard.press("Enter")
    expect(page.get_by_role("alert")).to_have_text("the searcher does not answer")
    expect(page.locator("#login")).to_be_hidden()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1100, 390])
def test_it_is_accessible_and_nothing_sticks_out(
    page: Page, site: Site, scheme: Literal["light", "dark"], width: int
) -> None:
    page.set_viewport_size({"width": width, "height": 844})
    page.emulate_media(color_scheme=scheme)
    search(page, site)
    page.locator("#filters > summary").click()
    page.locator("#index > summary").click()
    expect(page.locator("#index-body table")).to_have_count(2)
    report = Axe().run(page)
    assert report.violations_count == 0, report.generate_report()
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    background = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert background == {"light": "rgb(255, 255, 255)", "dark": "rgb(20, 23, 27)"}[scheme]
