"""Who calls whom, by name: what a file's syntax says is stored with its chunks, and resolved when somebody asks.

::

    index    syntax tree ── symbols ── two columns of the file's own rows (:mod:`everfind_core.callgraph.symbols`)
    search   a name ── rows that define or use it ── how well each pair fits (:mod:`everfind_core.callgraph.resolution`)

No edge is stored. An edge between two files would be wrong as soon as one of them changed; two names never are.
"""
