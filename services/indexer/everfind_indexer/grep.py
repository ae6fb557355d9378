"""Line search over exactly the indexable files. Patterns run on RE2: linear time, whatever the pattern."""

from __future__ import annotations

import time
from bisect import bisect_right
from collections.abc import Callable, Iterator
from typing import TypeAlias

from everfind_core.cancellation import Cancellation
from everfind_core.errors import InvalidRequestError
from everfind_core.files.globs import compile_globs
from everfind_core.model import FileRef, GrepAnswer, GrepMatch, GrepRequest
from everfind_core.ports import NotExtractedError
from everfind_indexer.extractors import Extraction
from everfind_indexer.sources import Sources, SourceText, absolute_path

MAX_PATTERN = 1_000
MAX_RESULTS = 10_000
MAX_LINE = 400
MAX_SECONDS = 120.0
_BY_LINES = "(?m)"
"""Before each pattern: ^ and $ are the ends of lines."""

Matcher: TypeAlias = Callable[[str], Iterator[tuple[int, int]]]
"""Gives the spans of all matches in a text."""


def grep(request: GrepRequest, sources: Sources, cancel: Cancellation) -> GrepAnswer:
    """Search; see :meth:`everfind_core.ports.Indexer.grep`.

    Raises:
        InvalidRequestError: the pattern, or a limit, cannot be used.
        FolderNotFoundError, FolderUnusableError: a named folder is not there.
    """
    _check(request)
    find = _matcher(request)
    ends = time.monotonic() + request.seconds
    matches: list[GrepMatch] = []
    searched = 0
    with Extraction() as extraction:
        for ref in _files(request, sources, cancel):
            cancel.check()
            if time.monotonic() > ends:
                return GrepAnswer(tuple(matches), searched, f"stopped after {request.seconds:g} s")
            try:
                source = sources.read(ref, extraction)
            except NotExtractedError:
                continue
            searched += 1
            matches += _matches(ref, absolute_path(sources.folder(ref.folder), ref.path), source, find)
            if len(matches) > request.max_results:
                noun = "match" if request.max_results == 1 else "matches"
                stopped = f"stopped after {request.max_results:,} {noun}"
                return GrepAnswer(tuple(matches[: request.max_results]), searched, stopped)
    return GrepAnswer(tuple(matches), searched)


def _check(request: GrepRequest) -> None:
    if not request.pattern or len(request.pattern) > MAX_PATTERN or "\0" in request.pattern:
        raise InvalidRequestError.of("pattern", f"it must have 1 to {MAX_PATTERN:,} characters and no NUL")
    if not request.pattern.isascii() and any("\ud800" <= c <= "\udfff" for c in request.pattern):
        raise InvalidRequestError.of("pattern", "it holds a lone surrogate, which is no text")
    if "\n" in request.pattern:
        raise InvalidRequestError.of("pattern", "it spans lines; grep looks at one line at a time")
    if not 1 <= request.max_results <= MAX_RESULTS:
        raise InvalidRequestError.of("max_results", f"{request.max_results} is not between 1 and {MAX_RESULTS:,}")
    if not 0 < request.seconds <= MAX_SECONDS:
        raise InvalidRequestError.of("seconds", f"{request.seconds:g} is not between 0 and {MAX_SECONDS:g}")


def _matcher(request: GrepRequest) -> Matcher:
    import re2  # costs a few milliseconds that only grep needs

    options = re2.Options()
    options.case_sensitive = request.case_sensitive
    options.never_nl = True
    options.log_errors = False
    options.literal = not request.regex
    try:
        compiled = re2.compile(f"{_BY_LINES}{request.pattern}" if request.regex else request.pattern, options)
    except re2.error as error:
        why = error.args[0].decode("utf-8", "replace") if isinstance(error.args[0], bytes) else str(error)
        why = why.replace(_BY_LINES, "", 1)
        raise InvalidRequestError.of(
            "pattern",
            f"{request.pattern!r} is no regular expression that can run in linear time: {why}",
            hint="RE2 syntax: no look-around, no back-references.",
        ) from error
    return lambda text: (match.span() for match in compiled.finditer(text))


def _files(request: GrepRequest, sources: Sources, cancel: Cancellation) -> Iterator[FileRef]:
    names = request.folders or tuple(name for name, folder in sources.by_name().items() if sources.usable(folder))
    wanted = compile_globs(request.globs, field="globs")
    for name in sorted(dict.fromkeys(names)):
        for found in sources.discover(sources.folder(name), cancel=cancel).files:
            if wanted is None or wanted.matches(found.path):
                yield FileRef(name, found.path)


def _matches(ref: FileRef, place: str, source: SourceText, find: Matcher) -> Iterator[GrepMatch]:
    """One match a line: the first on it."""
    text = source.text
    line, counted, line_end = 1, 0, -1
    for start, end in find(text.removesuffix("\n")):
        if start <= line_end:
            continue
        line += text.count("\n", counted, start)
        counted = start
        line_start = text.rfind("\n", 0, start) + 1
        line_end = text.find("\n", start)
        line_end = len(text) if line_end < 0 else line_end
        shown = _excerpt(text[line_start:line_end], start - line_start, end - line_start)
        page = bisect_right(source.page_starts, line)
        yield GrepMatch(ref, place, line, shown, page, source.extracted_from)


def _excerpt(line: str, start: int, end: int) -> str:
    """The line, or the part of a very long one around the match."""
    if len(line) <= MAX_LINE:
        return line
    left = max(0, min(start - (MAX_LINE - min(end - start, MAX_LINE)) // 2, len(line) - MAX_LINE))
    right = left + MAX_LINE
    return f"{'…' if left else ''}{line[left:right]}{'…' if right < len(line) else ''}"
