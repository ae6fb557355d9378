"""From a document to chunks: natural borders, sizes in the model's tokens, and borders that an edit does not move.

::

    text ── source ── lines and their tokens, measured once a file
              │
              ├── markdown | restructured | asciidoc | org | html_source | prose | records | config | code
              │       one analyser a kind of line: strength of each boundary, outline (headings, definitions, headers)
              │
              └── packer ── cuts ── assembly ── chunks: text, context, overlap, symbol, page, token ids

**The rule of the packer.** Packing greedily from the top gives full chunks, but one inserted line moves every later
border. Here a border depends on what stands near it, and on nothing else. Let the *cap* C be the most that a chunk's
own lines may count (:func:`~everfind_core.chunking.limits.body_cap`), and r = C / 4.

1. Each boundary before a line that is not blank has a *priority*: its strength (heading or definition, then paragraph
   or statement group, then line), and among equals a hash of the line, and among equal lines one of four lines.
2. A boundary is an *anchor* if none within r tokens to either side, the document's ends included, has a higher
   priority (of equal ones the first stands). So two anchors are at least r apart, and tiny sections join neighbours.
3. An anchor is a *border* if the nearest stronger anchors to its left and right are more than C apart: what fits
   between two strong borders stays whole, whatever weaker ones are inside.
4. What is still longer than C has no anchor inside. It is cut from its start on: at the strongest heading or
   definition that leaves a tenth of C on both sides, else at the last of the strongest boundaries in the second half
   of C. In a text that repeats itself, these cuts repeat, too, and give equal chunks.

A huge line (heavier than C alone) and front matter are packed apart; inside a huge line the units are words, and the
ends of sentences the strongest boundaries.

**What an edit changes.** Step 2 looks r far, so an edited line at p changes no anchor farther than r (and three
lines) from it. Step 3: let an anchor b be farther than C + r to the left of p. Its stronger neighbour to the right
either lies before all changed anchors, and is the same as before the edit, or is more than C away from b, so that b
is a border before and after; to the right of p likewise. **So no border farther than 1.25 C from an edit ever
changes**, but for cuts of step 4 in the same stretch without anchors. Such stretches are short (their priorities fall
and then rise from each r to the next), but in repeated text, where the cuts are equal.

That bounds the reach of an edit, not the number of chunks in it, which in theory may be about ten, since anchors may
be r apart. Measured at these settings, over 10,000 edits of every kind at places spread over 13 big files of code,
prose, Markdown, JSON and CSV: 74 % make at most one new text, 24 % two, 2 % three, 3 in 10,000 four, none more,
overlap included (``tests/unit/core/chunking/test_chunk_resync.py`` keeps a sample of it).

Two kinds of edit reach farther because they change what the text means.

- Renaming, adding or removing a heading, a definition or a key changes the context of what it encloses (before or after
  the edit), which is part of what is embedded. So such a line embeds four chunks, and those that it encloses: all of a
  renamed class, the rest of a renamed function of many chunks, the sections under a heading. A brace too many or too
  few is no such line (``tests/unit/indexer/syntax/test_syntax_resync.py`` holds both for lines of structure in six
  languages).
- Opening or closing a string, a comment or a Markdown fence changes what the lines up to the other end are: to the end
  of the file, if there is none. Whoever types one and then the other embeds no text twice: vectors are kept.

**Overlap** repeats whole lines of the same section, only where a section or a body was split, never in configuration
and data, and counts neither towards C nor in any decision above. **Context** gets the room that is left below the
hard limit, the outermost part goes first; the overlap gets what then remains.

**Code** in a Markdown chunk that has enough words, but fewer of them than of code, is left out of what is embedded; it
is stored, and the lexical arm finds it.
"""

from everfind_core.chunking.chunker import TextChunker, cut
from everfind_core.chunking.limits import limits_by_kind

__all__ = ["TextChunker", "cut", "limits_by_kind"]
