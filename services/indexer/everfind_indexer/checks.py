"""What cannot be asked of a run, before anything is done. Pure."""

from __future__ import annotations

from everfind_core.errors import InvalidRequestError
from everfind_core.files.paths import check_relative
from everfind_core.model import IndexRequest


def check_run(request: IndexRequest) -> None:
    """Refuse a request whose fields contradict each other or are out of range.

    Raises:
        InvalidRequestError: it names the field.
    """
    _check_parts(request)
    if request.max_files < 0 or request.concurrency < 0:
        field = "max_files" if request.max_files < 0 else "concurrency"
        raise InvalidRequestError.of(field, "it is negative; 0 means no limit of your own")
    if request.rebuild and request.folders:
        raise InvalidRequestError.of("rebuild", "a rebuild takes all folders; name none")
    if request.repair and (request.folders or request.rebuild or request.max_files):
        raise InvalidRequestError.of(
            "repair", "it is of the whole index: no folders, no limit, and no rebuild beside it"
        )


def _check_parts(request: IndexRequest) -> None:
    given = {"below": [request.below] if request.below else [], "paths": request.paths}
    for field, paths in given.items():
        if paths and len(request.folders) != 1:
            raise InvalidRequestError.of(field, "it needs exactly one folder beside it")
        for path in paths:
            check_relative(path, field=field)
    if request.below and request.paths:
        raise InvalidRequestError.of("paths", "give either them or below")
