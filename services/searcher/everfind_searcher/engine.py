"""The searcher's engine: query → arms → fuse → rank → answer, over the store's reading side."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial

from everfind_core.cancellation import Cancellation
from everfind_core.errors import IndexDamagedError, IndexMissingError
from everfind_core.index.directory import IndexCoverage
from everfind_core.index.manifest import Recipe, check_recipe
from everfind_core.index.watch_state import read_watch_state, with_waiting
from everfind_core.model import (
    Filters,
    GatherAnswer,
    GatherRequest,
    RelatedAnswer,
    RelatedRequest,
    SearchAnswer,
    SearchMode,
    SearchRequest,
    Staleness,
)
from everfind_core.ports import Embedder, Reranker, SourceReader
from everfind_core.ranking import read_query
from everfind_core.text.lexical import REVISION as LEXICAL_REVISION
from everfind_core.text.secrets import REVISION as SECRETS_REVISION
from everfind_core.workspaces import check_workspace
from everfind_searcher.answering.budget import Budget, Form, SearchForm, counter
from everfind_searcher.answering.cursor import decode_cursor
from everfind_searcher.answering.gathering import Gatherer
from everfind_searcher.answering.hits import roots_for
from everfind_searcher.answering.paging import paged
from everfind_searcher.answering.unmatched import what_filters_left
from everfind_searcher.asking.checks import check_folders, check_gather, check_search
from everfind_searcher.asking.expansion import Expander
from everfind_searcher.asking.reader import QuestionReader
from everfind_searcher.asking.waiting import wait_for_changes
from everfind_searcher.current import CurrentIndex, OpenIndex, ReaderOpener
from everfind_searcher.ordering.finding import Finder, Found
from everfind_searcher.ordering.limits import limits_of
from everfind_searcher.ordering.ranking import admit
from everfind_searcher.ordering.reranking import reranked
from everfind_searcher.related.answering import answer_related
from everfind_searcher.related.hop import with_hop
from everfind_searcher.related.requests import check_related
from everfind_searcher.settings import SearcherSettings


@dataclass(frozen=True, slots=True)
class OptionalModels:
    """What a search can do without: a reranker, and a language model that gives other ways to ask."""

    reranker: Reranker | None = None
    expander: Expander | None = None


NO_MORE_MODELS = OptionalModels()

MOVED = "the index changed since the page before: hits may repeat or be missing"


class SearchEngine:
    """Answers questions from one workspace's index (the port :class:`everfind_core.ports.Searcher`)."""

    def __init__(
        self,
        settings: SearcherSettings,
        embedder: Embedder,
        source: SourceReader,
        open_reader: ReaderOpener,
        optional: OptionalModels = NO_MORE_MODELS,
    ) -> None:
        """Answer from the index that ``settings`` name; the engine closes the expander, and its owner all else."""
        self._settings = settings
        self._embedder = embedder
        self._source = source
        self._current = CurrentIndex(settings, open_reader)
        self._finder = Finder(settings, QuestionReader(embedder, optional.expander))
        self._reranker = optional.reranker

    def search(self, request: SearchRequest, *, cancel: Cancellation | None = None) -> SearchAnswer:
        """See :meth:`everfind_core.ports.Searcher.search`."""
        return self._shown(request, SearchForm(), cancel or Cancellation())

    def _shown(self, request: SearchRequest, form: Form, cancel: Cancellation) -> SearchAnswer:
        """The answer; a token budget is that of its text in ``form``."""
        check_search(request)
        wait_for_changes(self._settings.index_directory, request, cancel)
        index = self._current.get()
        try:
            return self._search(request, index, form, cancel)
        except (IndexMissingError, IndexDamagedError):
            # A rebuild took its place, or files of the snapshot were cleaned up: once more with what there is now.
            return self._search(request, self._current.again(), form, cancel)

    def _search(self, request: SearchRequest, index: OpenIndex, form: Form, cancel: Cancellation) -> SearchAnswer:
        cursor = decode_cursor(request)
        coverage = self._checked_coverage(index, request.mode, request.workspace, request.filters)
        snapshot = index.reader.snapshot()
        generation = index.generation(snapshot)
        start = cursor.offset if cursor else 0
        watch = read_watch_state(self._settings.index_directory)
        covered = with_waiting(coverage.total(request.filters.folders), watch, request.filters.folders)
        limits = limits_of(request, self._settings, index.location.manifest.model, index.calibration())
        unembedded = snapshot.unembedded if covered.unembedded else None
        admitting = partial(admit, limits=limits, chunks=covered.chunks, unembedded=unembedded)
        found = self._finder.find(request, snapshot, start + request.limit, admitting, cancel)
        if request.rerank:
            found = self._reranked(found, request.query, cancel)
        moved = cursor is not None and cursor.generation != generation
        roots = roots_for(coverage, request.filters.folders)
        left, narrow = ("", ()) if found.hits else what_filters_left(request.filters, snapshot, covered.chunks)
        about = SearchAnswer(
            query=request.query,
            generation=generation,
            hits=(),
            coverage=covered,
            abstained=None if left else found.abstained,
            hidden=found.hidden,
            staleness=Staleness(covered.pending > 0, covered.pending, coverage.indexed_at),
            warnings=(MOVED,) * moved + found.warnings + narrow,
            unmatched=left,
            parts=found.parts,
            intents=tuple(sorted(intent.value for intent in read_query(request.query).intents)),
        )
        budget = Budget(request.max_tokens, counter(self._embedder, request), form) if request.max_tokens else None
        answer = paged(about, found.hits, start, request, roots, budget=budget)
        if not request.graph_hops:
            return answer
        return with_hop(answer, request, snapshot, self._finder.visible(request.filters), roots, budget=budget)

    def _checked_coverage(self, index: OpenIndex, mode: SearchMode, workspace: str, filters: Filters) -> IndexCoverage:
        """What the index covers, once it is the one that is asked, can be read, and has the folders that are named."""
        self._check_recipe(index.location.manifest.recipe, mode)
        coverage = index.coverage()
        check_workspace(workspace, self._settings.workspace, (one.folder.root for one in coverage.folders))
        check_folders(filters, coverage)
        return coverage

    def _reranked(self, found: Found, query: str, cancel: Cancellation) -> Found:
        hits, unranked = reranked(query, found.hits, self._reranker, cancel)
        return replace(found, hits=hits, warnings=found.warnings + unranked)

    def gather(self, request: GatherRequest, *, cancel: Cancellation | None = None) -> GatherAnswer:
        """See :meth:`everfind_core.ports.Searcher.gather`."""
        check_gather(request)
        gatherer = Gatherer(self._source, request.context_lines)
        return gatherer.gather(self._shown(request.search, gatherer, cancel or Cancellation()))

    def related(self, request: RelatedRequest, *, cancel: Cancellation | None = None) -> RelatedAnswer:
        """See :meth:`everfind_core.ports.Searcher.related`."""
        check_related(request)
        index = self._current.get()
        try:
            return self._related(request, index, cancel or Cancellation())
        except (IndexMissingError, IndexDamagedError):
            return self._related(request, self._current.again(), cancel or Cancellation())

    def _related(self, request: RelatedRequest, index: OpenIndex, cancel: Cancellation) -> RelatedAnswer:
        self._checked_coverage(index, SearchMode.LEXICAL, request.workspace, request.filters)
        watch = read_watch_state(self._settings.index_directory)
        return answer_related(request, index, self._finder.visible(request.filters), watch, cancel)

    def close(self) -> None:
        """Stop the engine's threads."""
        self._finder.close()

    def _check_recipe(self, found: Recipe, mode: SearchMode) -> None:
        """Refuse an index whose vectors, terms or masking are not what this searcher would make."""
        wanted = replace(
            found,
            # A search by words alone needs no model, and must not wait for one to load.
            model=found.model if mode is SearchMode.LEXICAL else self._embedder.model().identity,
            lexical=LEXICAL_REVISION,
            secrets=SECRETS_REVISION if self._settings.redact_secrets else "off",
        )
        check_recipe(found, wanted, self._settings.place)
