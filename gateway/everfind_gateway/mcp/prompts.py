"""What an agent is told: the server's instructions, and prompts that teach when to use which tool."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from everfind_core.errors import InvalidRequestError
from everfind_core.files.paths import printable
from everfind_core.model import Folder

MAX_ARGUMENT = 10_000
_SHOWN_FOLDERS = 20

GUIDE = """\
Finding things in the user's folders with everfind:

1. You have a question, or do not know the exact wording: `search`. Ask in a sentence or with an identifier; both \
work. Read the lines of the hits, and only then rephrase.
2. You want to answer from what is found: `gather`, which gives each hit with lines around it as one Markdown block.
3. You have a function or class and want what calls it or what it calls: `related`, with its name or a hit's place.
4. You know the exact text and need every place: `grep`.
5. You know the file: `cat_file`, with the lines that a hit or a match named.
6. You do not know what there is: `list_folders`, then `list_files` of a folder or a directory in it.
7. Nothing was found: look at what the answer says was searched and left out, then at `status`. Say that something \
does not exist only if its folder is indexed and up to date.
8. An answer says that files changed: `index`, then ask again.

Name what you use as FOLDER/PATH:LINE. Narrow a search with `folders`, `include` and `languages` rather than by more \
words; ask for the next page with `cursor` rather than for a large `limit`."""

ANSWER = """\
Answer this from the user's indexed folders, not from memory:

{question}

Use everfind: `gather` with the question in your own words, and with its identifiers where it names some; read on with \
`cat_file` where a passage breaks off. Give each statement its source as FOLDER/PATH:LINE. If the passages do not \
answer it, say so, and say what was searched (`status` tells what is indexed and what is left out)."""


@dataclass(frozen=True, slots=True)
class Prompt:
    """A prompt: its one argument, if it takes one, and its text."""

    name: str
    title: str
    description: str
    text: str
    argument: str = ""
    argument_description: str = ""


PROMPTS = (
    Prompt("guide", "How to search", "When to use which everfind tool.", GUIDE),
    Prompt(
        "answer",
        "Answer from my folders",
        "Answer a question from the indexed folders, with sources.",
        ANSWER,
        "question",
        "What to answer.",
    ),
)


def instructions(description: str, folders: Sequence[Folder] | None, tools: Sequence[str]) -> str:
    """What a host tells its model about this server; ``folders`` None if only a remote server knows them."""
    names = [printable(folder.name) for folder in folders or ()]
    more = f" and {len(names) - _SHOWN_FOLDERS} more" if len(names) > _SHOWN_FOLDERS else ""
    lines = [description] if description else []
    if names:
        lines.append(f"Semantic and exact search over these folders: {', '.join(names[:_SHOWN_FOLDERS])}{more}.")
    elif folders is None:
        lines.append("Semantic and exact search over a shared index; list_folders names its folders.")
    else:
        lines.append("Semantic and exact search over the user's folders. None is added yet: `everfind add DIR`.")
    if {"search", "grep"} <= set(tools):
        lines.append(
            "Use search for questions and unknown wording, before guessing file names; grep for every occurrence of an "
            "exact text. An empty search says what was searched, so that absence means something."
        )
    return "\n".join(lines)


def render(name: str, arguments: Mapping[str, str]) -> Prompt:
    """A prompt with its argument filled in.

    Raises:
        InvalidRequestError: there is no such prompt, or its argument is missing or too long.
    """
    prompt = next((one for one in PROMPTS if one.name == name), None)
    if prompt is None:
        known = ", ".join(one.name for one in PROMPTS)
        raise InvalidRequestError.of("name", f"there is no prompt {name[:100]!r}; there are {known}")
    if not prompt.argument:
        return prompt
    value = arguments.get(prompt.argument, "").strip()
    if not value or len(value) > MAX_ARGUMENT:
        raise InvalidRequestError.of(prompt.argument, f"it needs 1 to {MAX_ARGUMENT:,} characters")
    return Prompt(prompt.name, prompt.title, prompt.description, prompt.text.replace("{question}", value))
