"""How much evidence an answer needs: the request decides, else the settings, else the index's calibration."""

from __future__ import annotations

from everfind_core.model import Calibration, ModelInfo, SearchMode, SearchRequest
from everfind_core.noise.calibration import floor_of
from everfind_core.noise.model_registry import reads_english_only
from everfind_core.ranking import Limits
from everfind_core.ranking.admission import OF_A_FILE, TAIL
from everfind_searcher.settings import Fusion, SearcherSettings


def limits_of(
    request: SearchRequest, settings: SearcherSettings, model: ModelInfo, calibration: Calibration | None
) -> Limits:
    """The limits for a request to an index of ``model``. A plain arm has only those that the request itself sets."""
    plain = request.mode is not SearchMode.HYBRID
    by_meaning = request.mode is not SearchMode.LEXICAL
    min_score = settings.min_score if request.min_score is None and not plain else request.min_score
    cutoff = settings.relative_cutoff if request.relative_cutoff is None and not plain else request.relative_cutoff
    floor = None if plain else floor_of(model, calibration)
    judged = floor is not None and min_score is None and settings.fusion is Fusion.WEIGHTED
    return Limits(
        floor=None if floor is None else floor.min_score,
        min_score=min_score if by_meaning else None,
        relative_cutoff=(cutoff or 0.0) if by_meaning else 0.0,
        english_only=reads_english_only(model.id),
        tail=TAIL if judged else 0.0,
        of_a_file=OF_A_FILE if judged else 0,
    )
