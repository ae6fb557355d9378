"""Chunking of code by its syntax tree.

::

    text ── parsing ── definitions, items, preludes, lines that the grammar could not read
               │
            structure ── the same form that line analysis gives (:mod:`everfind_core.chunking.structure`)
               │
            the packer and assembly of :mod:`everfind_core.chunking`

What a language's definitions are stands in ``queries/<language>.scm``, in tree-sitter's query language, with these
captures: ``@definition.<kind>`` and its ``@name``; ``@item``, a statement or member, before which a long body may be
cut; ``@prelude``, a comment or decorator that belongs to what follows it; ``@error``.
"""

from everfind_indexer.syntax.chunker import SyntaxChunker

__all__ = ["SyntaxChunker"]
