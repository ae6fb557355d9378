"""What is done to a store, by chance."""

from __future__ import annotations

import random

from hypothesis import strategies as st

from everfind_core.model import FileRef, Filters
from everfind_core.ports import ChunkWriter, FileChunks
from tests.support.store_samples import EVERYTHING, file, random_texts

FILTERS = (
    EVERYTHING,
    Filters(folders=("f",)),
    Filters(include=("*1",), languages=("python",)),
    Filters(exclude=("2*",), kinds=("function",)),
)

EDITS = st.lists(
    st.sampled_from(("save", "save", "save", "replace", "delete", "folder", "maintain", "finish", "exact")), max_size=8
)


def edit(writer: ChunkWriter, kind: str, choose: random.Random) -> None:
    names = [f"{choose.randrange(30)}" for _ in range(choose.randint(1, 6))]
    folder = choose.choice("fg")
    match kind:
        case "replace" | "save":
            language, what = choose.choice(("python", "")), choose.choice(("function", ""))
            texts = [random_texts(choose.randint(1, 4), choose.randrange(10**6)) for _ in names]
            texts[0][-1] = choose.choice((texts[0][-1], ""))
            files = zip(names, texts, strict=True)
            writer.replace([file(folder, name, *found, language=language, kind=what) for name, found in files])
            if kind == "save":
                writer.maintain(finish=True)
        case "delete":
            writer.replace([FileChunks(FileRef(folder, name)) for name in names])
        case "folder":
            writer.delete_folder(folder)
        case _:
            writer.maintain(finish=kind != "maintain", exact=kind == "exact")
