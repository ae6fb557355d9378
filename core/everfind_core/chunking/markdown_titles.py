"""The words of a Markdown heading, which enclose its section: without addresses of links, tags and emphasis.

Code stays as it is written. Underscores stay, too: in titles they belong to names, as in ``__init__``.
"""

from __future__ import annotations

import re
from itertools import count

_LINK = re.compile(
    r"!?\[(?P<text>(?:[^\[\]]|\[[^\[\]]*\])*)\]"
    r"(?:\([^()\s]*(?:\([^()\s]*\)[^()\s]*)*(?:\s+\"[^\"]*\")?\)|\[[^\[\]]*\])"
)
_NESTED = 2  # an image in a link, as badges are
_CODE = re.compile(r"`+[^`]+`+")
_KEPT = re.compile(r"\0(\d+)\0")
_TAG = re.compile(
    r"<[A-Za-z][\w-]*(?:\s+[\w:@.-]+=(?:\"[^\"]*\"|'[^']*'))+\s*/?>"
    r"|</?(?:a|b|br|code|del|em|i|kbd|mark|s|small|span|strong|sub|sup|u)\s*/?>"
)
_STRONG = re.compile(r"(\*\*|~~)(?=\S)(?P<text>[^*~]+?)(?<=\S)\1")
_EMPHASIS = re.compile(r"(?<![\w*])\*(?=[^\s*])(?P<text>[^*]+?)(?<=[^\s*])\*(?![\w*])")


def plain_title(title: str) -> str:
    """``[1.0](https://…) **Fixes**`` → ``1.0 Fixes``; a title of which nothing would be left stays."""
    codes = _CODE.findall(title)
    numbers = count()
    text = _CODE.sub(lambda _: f"\0{next(numbers)}\0", title.replace("\0", " "))
    for _ in range(_NESTED):
        text = _LINK.sub(r"\g<text>", text)
    text = _EMPHASIS.sub(r"\g<text>", _STRONG.sub(r"\g<text>", _TAG.sub("", text)))
    return " ".join(_KEPT.sub(lambda match: codes[int(match[1])], text).split()) or title
