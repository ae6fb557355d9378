"""The other tools' results as text for a model; those of search and gather: :mod:`everfind_core.answers.text_form`."""

from __future__ import annotations

from collections.abc import Sequence

from everfind_core.files.paths import printable, shown_path
from everfind_core.model import (
    FileText,
    Folder,
    GrepAnswer,
    IndexedFile,
    IndexReport,
    RelatedAnswer,
    WorkspaceStatus,
)
from everfind_core.text.numbers import by_reason, count
from everfind_gateway.render.related import line_of, place_of, preview


def related_text(answer: RelatedAnswer) -> str:
    """What was asked about, then one line each: place, confidence, relation, symbol and the line."""
    lines = [f"target: {place_of(hit)} {printable(hit.symbol or hit.heading)}".rstrip() for hit in answer.targets]
    lines += [
        f"{place_of(one.hit, line_of(one))}  {one.confidence:.2f} [{one.relation.value}]  "
        f"{printable(one.symbol or one.hit.symbol)}: {preview(one)}"
        for one in answer.related
    ]
    if not answer.related:
        coverage = answer.coverage
        lines.append(
            f"Nothing is related; searched {count(coverage.files, 'file')}, {count(coverage.chunks, 'chunk')}."
        )
    if answer.next_cursor:
        lines.append(f"{answer.left_out:,} more; next page: cursor={answer.next_cursor!r}")
    return "\n".join(lines + [f"warning: {warning}" for warning in answer.warnings])


def folders_text(folders: Sequence[tuple[Folder, bool]]) -> str:
    """One line a folder: name and absolute path."""
    if not folders:
        return "No folder is added yet. The user adds one with `everfind add DIR`."
    return "\n".join(
        f"{printable(folder.name)}  {shown_path(folder.root)}"
        + (f"  (only {', '.join(map(printable, folder.include))})" if folder.include else "")
        + ("" if usable else "  (cannot be read now)")
        for folder, usable in folders
    )


def files_text(files: Sequence[IndexedFile], next_cursor: str, *, include: Sequence[str]) -> str:
    """One line a file: `folder/path`, and its tokens; what to do where there is none, with or without globs."""
    lines = [f"{shown_path(f'{f.ref.folder}/{f.ref.path}')}  {count(f.tokens, 'token')}" for f in files]
    if not files and include:
        lines.append("No file of the index matches. Globs match the path below a folder, without the folder's name.")
    elif not files:
        lines.append("The index holds no file there. `status` says what was left out, `index` brings it up to date.")
    if next_cursor:
        lines.append(f"[more files; next page: cursor={next_cursor!r}]")
    return "\n".join(lines)


def file_text(text: FileText) -> str:
    """The lines as they are, under a heading that says which they are."""
    name = shown_path(f"{text.ref.folder}/{text.ref.path}")
    if not text.text and text.start_line > text.total_lines:
        return f"{name} has {count(text.total_lines, 'line')}; there is no line {text.start_line:,}."
    facts = [f"{name} lines {text.start_line:,}-{text.end_line:,} of {text.total_lines:,}"]
    if text.extracted_from:
        facts.append(f"of the text extracted from {text.extracted_from}")
    if text.redactions:
        facts.append("secrets masked")
    if not text.indexed:
        facts.append("not the version that the index holds")
    rest = ""
    if text.truncated:
        following = f"continue with start_line={text.end_line + 1}" if text.end_line < text.total_lines else "line cut"
        rest = f"\n[cut here, at line {text.end_line:,} of {text.total_lines:,}: {following}]"
    return f"{'; '.join(facts)}\n{text.text}{rest}"


def grep_text(answer: GrepAnswer) -> str:
    """One line a match: `folder/path:line:text`."""
    lines = [f"{shown_path(f'{m.ref.folder}/{m.ref.path}')}:{m.line}:{m.text}" for m in answer.matches]
    if not answer.matches:
        lines.append(f"No match in {count(answer.files_searched, 'file')}.")
    if any(m.extracted_from for m in answer.matches):
        lines.append("[lines of documents are those of the text extracted from them, as cat_file shows it]")
    if answer.truncated:
        lines.append(f"[not all matches: {answer.truncated}; narrow it down by folders, globs or a longer pattern]")
    return "\n".join(lines)


def index_text(report: IndexReport) -> str:
    """What a run did, in a sentence, with the files that somebody may want to act on."""
    skipped = by_reason(report.skipped)
    lines = [
        f"{report.indexed:,} indexed, {report.unchanged:,} unchanged, {report.deleted:,} deleted; "
        f"{count(report.chunks_written, 'chunk')} written, {report.chunks_embedded:,} embedded"
        + (f"; left out: {skipped}" if skipped else "")
    ]
    lines += [f"{e.reason.value}: {shown_path(f'{e.ref.folder}/{e.ref.path}')} {e.message}" for e in report.errors[:20]]
    if report.pending:
        lines.append(f"{count(report.pending, 'file')} left for the next run")
    return "\n".join(lines + [f"warning: {warning}" for warning in report.warnings])


def coverage_text(status: WorkspaceStatus, *, name: str, skipped_files: bool, skipped_left_out: int) -> str:
    """What is indexed and what is not."""
    from everfind_gateway.render.status import status_text  # its imports would delay the first list of tools

    text = status_text(status, name=name, skipped_files=skipped_files)
    return text + (f"\n{skipped_left_out:,} more left out; max_skipped shows them" if skipped_left_out else "")
