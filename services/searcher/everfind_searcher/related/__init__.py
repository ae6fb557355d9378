"""What belongs to a symbol or a place: who calls it, what it calls, who refers to it, what is like it.

::

    request ── targets ── definitions that it may mean
                  │
               relations ── uses of their names, definitions of the names they use, nearest vectors
                  │
               answering ── one order, a page of it
                 hop ── the same for the first hits of a search
"""
