"""What an error of the system or of a library says, as the end of a sentence of ours."""

from __future__ import annotations


def cause(error: BaseException) -> str:
    """The reason alone, on one line: no number and no path, which the sentence around it names already."""
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    if isinstance(error, UnicodeDecodeError):
        return "it is not UTF-8"
    said = " ".join(str(error).split())
    return said or type(error).__name__
