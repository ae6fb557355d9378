"""What tests of real processes share."""

from __future__ import annotations

import pytest

from tests.support.corpus import write_corpus
from tests.support.processes import Home


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Home:
    """A user's home with the small corpus of code and documents, indexed."""
    base = tmp_path_factory.mktemp("home")
    write_corpus(base / "files")
    home = Home(base)
    home.run("add", str(base / "files/code"), str(base / "files/docs"))
    home.run("index")
    return home
