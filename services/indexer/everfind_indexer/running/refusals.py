"""What a run would refuse, told before anybody asks for one."""

from __future__ import annotations

from everfind_core.errors import IndexIncompatibleError, IndexMissingError
from everfind_core.index.directory import current_index
from everfind_core.index.manifest import check_recipe, is_upgrade
from everfind_core.model import HealthFinding, Severity
from everfind_core.ports import Chunker
from everfind_indexer.running.recipes import recipe_of
from everfind_indexer.settings import IndexerSettings
from everfind_indexer.store.choosing import check_store


def refusal_findings(settings: IndexerSettings, chunker: Chunker) -> list[HealthFinding]:
    """An error where the index was made with other settings than these; another model is for the embedder to tell.

    Raises:
        IndexDamagedError: the index cannot be read.
    """
    directory = settings.index_directory
    try:
        manifest = current_index(directory).manifest
        recipe = recipe_of(settings, chunker, manifest.model)
        if not is_upgrade(manifest, recipe, directory):
            check_recipe(manifest.recipe, recipe, directory)
            check_store(manifest.store, settings.store, directory)
    except IndexMissingError:
        return []
    except IndexIncompatibleError as error:
        return [HealthFinding("recipe", Severity.ERROR, f"nothing can be indexed: {error}", error.hint)]
    return []
