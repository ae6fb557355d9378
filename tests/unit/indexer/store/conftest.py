from tests.support.store_fixtures import directory, kind, writer

__all__ = ["directory", "kind", "writer"]
