"""What the files of an index directory are called.

::

    <index directory>/
        current.json            which index is current; replaced in one step when a rebuild is done
        .gitignore              keeps an index inside a repository out of it
        CACHEDIR.TAG            tells other programs that this can be made again
        writer.lock             held by the one process that writes; names it
        watcher.lock            held by the one process that follows the folders
        watch.json              what that one knows to have changed
        server.json             where a server of this machine answers for this index
        folders.json            the folders that clients of a server have added
        publisher.json          what names this directory where it is published (everfind_core.index.published)
        indexes/<index id>/
            manifest.json       what made this index: formats, model, chunker, sizes
            written.json        sizes and digests of the table's files, to tell damage by
            coverage.json       what it covers, folder by folder; rewritten after each commit
            calibration.json    the model's noise on it, measured at the end of a run
            chunks.lance/       the chunks (the store); chunks.sqlite where SQLite keeps them
            catalog.sqlite      what is known of each file (the indexer's own)
"""

from __future__ import annotations

POINTER = "current.json"
LOCK = "writer.lock"
WATCH_LOCK = "watcher.lock"
SERVER = "server.json"
FOLDERS = "folders.json"
PUBLISHER = "publisher.json"
INDEXES = "indexes"
MANIFEST = "manifest.json"
COVERAGE = "coverage.json"
CALIBRATION = "calibration.json"
CATALOG = "catalog.sqlite"
CACHE_TAG = "CACHEDIR.TAG"
GIT_IGNORE = ".gitignore"
"""Holds ``*``: an index inside a repository, which has the text of its files, is never added to it."""
