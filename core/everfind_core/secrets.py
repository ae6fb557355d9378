"""Masks secrets of known formats before text is stored, embedded or returned.

Only formats that their issuer made recognisable (a prefix, an armour, a well-known key name) are masked: precision
first, no guessing by entropy. A mask such as ``[redacted:github-token]`` never adds or removes a line, and masking
masked text changes nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

REVISION = "1"
"""Changes whenever another text could be masked; an index made by another revision must be built again."""

_MAX_KEY_LINES = 1000


@dataclass(frozen=True, slots=True)
class _Rule:
    """One token format.

    Without one of the ``literals`` in the text the regex is not run. ``in_run``: the literal lies in or right before a
    long run of word characters, so only those have to be looked at. What is masked is the regex's group ``secret``,
    or the whole match.
    """

    name: str
    literals: tuple[str, ...]
    regex: re.Pattern[str]
    in_run: bool = False


def _ends(alphabet: str) -> str:
    """Nothing of ``alphabet`` follows, nor a mask: it may stand for what followed before, so that twice is once."""
    return rf"(?![{alphabet}]|\[redacted:)"


def _token(name: str, literals: str, pattern: str, *, alphabet: str = r"A-Za-z0-9_") -> _Rule:
    """A token that stands alone: nothing of its ``alphabet`` right before or after it."""
    regex = re.compile(rf"(?<![A-Za-z0-9_])(?:{pattern}){_ends(alphabet)}")
    return _Rule(name, tuple(literals.split()), regex, in_run=True)


def _assigned(name: str, literals: str, key: str, value: str) -> _Rule:
    """A value that only its key name tells: ``key = "value"``, ``"key": "value"``, ``key=value;``, ``<key>value<``."""
    between = r"[\"']?(?:\s{0,8}(?:=>|:=|[=:,])\s{0,8}|>)[\"']?"
    regex = re.compile(rf"{key}{between}(?P<secret>{value}){_ends('A-Za-z0-9/+=')}")
    return _Rule(name, tuple(literals.split()), regex)


def _placed(name: str, literal: str, before: str, secret: str, *, alphabet: str) -> _Rule:
    """A secret that its surroundings tell."""
    return _Rule(name, (literal,), re.compile(rf"{before}(?P<secret>{secret}){_ends(alphabet)}"))


# Quantifiers are possessive or short, so each rule runs in linear time.
_DASHED = r"A-Za-z0-9_\-"
_RULES: tuple[_Rule, ...] = (
    _token("github-token", "ghp_ gho_ ghu_ ghs_ ghr_", r"gh[pousr]_[A-Za-z0-9]{36,}+"),
    _token("github-token", "github_pat_", r"github_pat_[A-Za-z0-9_]{22,}+"),
    _token(
        "gitlab-token",
        "glpat- gldt- glrt- glcbt- glptt- glft- glsoat- glimt- glagent- gloas-",
        r"gl(?:pat|dt|rt|cbt|ptt|ft|soat|imt|agent|oas)-[A-Za-z0-9_\-]{20,}+(?:\.[0-9a-z]{2}\.?[0-9a-z]{7,9})?",
        alphabet=_DASHED,
    ),
    _token("aws-access-key-id", "AKIA ASIA ABIA ACCA", r"A(?:KIA|SIA|BIA|CCA)[A-Z0-9]{16}"),
    _assigned(
        "aws-secret-access-key",
        "secret_access_key SECRET_ACCESS_KEY ecretAccessKey aws_secret_key AWS_SECRET_KEY",
        r"(?:secret_access_key|SECRET_ACCESS_KEY|[sS]ecretAccessKey|aws_secret_key|AWS_SECRET_KEY)",
        r"[A-Za-z0-9/+=]{40}",
    ),
    _assigned(
        "aws-session-token",
        "aws_session_token AWS_SESSION_TOKEN essionToken",
        r"(?:aws_session_token|AWS_SESSION_TOKEN|[sS]essionToken)",
        r"[A-Za-z0-9/+=]{100,}+",
    ),
    _token(
        "slack-token",
        "xoxb- xoxp- xoxa- xoxr- xoxs- xoxo- xoxe",
        r"xox[abeoprs](?:\.xox[bp])?-[A-Za-z0-9\-]{15,}+",
        alphabet=_DASHED,
    ),
    _token("slack-token", "xapp-", r"xapp-\d-[A-Z0-9]{6,16}-\d{6,16}-[a-f0-9]{32,128}"),
    _placed(
        "slack-webhook",
        "hooks.slack.com/",
        r"hooks\.slack\.com/(?:services|workflows|triggers)/",
        r"T[A-Za-z0-9/_\-]{20,}+",
        alphabet=r"A-Za-z0-9/_\-",
    ),
    _placed(
        "discord-webhook",
        "/api/webhooks/",
        r"discord(?:app)?\.com/api/webhooks/",
        r"\d{17,20}/[A-Za-z0-9_\-]{60,80}",
        alphabet=_DASHED,
    ),
    _token("stripe-key", "sk_live_ rk_live_ sk_test_ rk_test_", r"[sr]k_(?:live|test)_[A-Za-z0-9]{16,}+"),
    _token("stripe-webhook-secret", "whsec_", r"whsec_[A-Za-z0-9]{32,64}"),
    _token("google-api-key", "AIza", r"AIza[A-Za-z0-9_\-]{35}", alphabet=_DASHED),
    _token("google-oauth-secret", "GOCSPX-", r"GOCSPX-[A-Za-z0-9_\-]{28}", alphabet=_DASHED),
    _token("google-oauth-token", "ya29.", r"ya29\.[A-Za-z0-9_\-]{30,}+", alphabet=_DASHED),
    _token("anthropic-key", "sk-ant-", r"sk-ant-[A-Za-z0-9_\-]{20,}+", alphabet=_DASHED),
    _token("openrouter-key", "sk-or-v1-", r"sk-or-v1-[a-f0-9]{64}", alphabet=_DASHED),
    _token(
        "openai-key",
        "sk-proj- sk-svcacct- sk-admin-",
        r"sk-(?:proj|svcacct|admin)-[A-Za-z0-9_\-]{20,}+",
        alphabet=_DASHED,
    ),
    _token("openai-key", "sk-", r"(?<!-)sk-[A-Za-z0-9]{32,64}", alphabet=_DASHED),
    _token("huggingface-token", "hf_ api_org_", r"(?:hf|api_org)_[A-Za-z0-9]{34,64}"),
    _token("groq-key", "gsk_", r"gsk_[A-Za-z0-9]{48,64}"),
    _token("xai-key", "xai-", r"xai-[A-Za-z0-9]{64,96}", alphabet=_DASHED),
    _token("replicate-token", "r8_", r"r8_[A-Za-z0-9]{37,40}"),
    _token("perplexity-key", "pplx-", r"pplx-[A-Za-z0-9]{40,64}", alphabet=_DASHED),
    _token("npm-token", "npm_", r"npm_[A-Za-z0-9]{36}"),
    _token("pypi-token", "pypi-AgE", r"pypi-AgE[A-Za-z0-9_\-]{50,}+", alphabet=_DASHED),
    _token("rubygems-key", "rubygems_", r"rubygems_[a-f0-9]{48}"),
    _token("docker-token", "dckr_", r"dckr_(?:pat|oat)_[A-Za-z0-9_\-]{27,64}", alphabet=_DASHED),
    _token("sendgrid-key", "SG.", r"SG\.[A-Za-z0-9_\-]{20,24}\.[A-Za-z0-9_\-]{39,50}", alphabet=_DASHED),
    _token("twilio-key", "SK", r"SK[0-9a-f]{32}"),
    _token("telegram-token", ":AA", r"\d{8,10}:AA[A-Za-z0-9_\-]{33}", alphabet=_DASHED),
    # A signed token is a credential for whoever holds it; an unsigned one ends in a dot and proves nothing.
    _token(
        "jwt",
        "eyJ",
        r"eyJ[A-Za-z0-9_\-]{17,1000}+\.eyJ[A-Za-z0-9_\-]{10,8000}+\.[A-Za-z0-9_\-]{20,}+",
        alphabet=_DASHED,
    ),
    _assigned("azure-storage-key", "AccountKey", "AccountKey", r"[A-Za-z0-9+/]{86}=="),
    _assigned("azure-shared-access-key", "SharedAccessKey", "SharedAccessKey", r"[A-Za-z0-9+/]{43}="),
    _placed(
        "azure-client-secret",
        "Q~",
        r"(?<![A-Za-z0-9_~.\-])",
        r"[A-Za-z0-9_~.\-]{3}\dQ~[A-Za-z0-9_~.\-]{31,34}",
        alphabet=r"A-Za-z0-9_~.\-",
    ),
    _token("digitalocean-token", "dop_v1_ doo_v1_ dor_v1_", r"do[opr]_v1_[a-f0-9]{64}"),
    _token("shopify-token", "shpat_ shpca_ shppa_ shpss_", r"shp(?:at|ca|pa|ss)_[a-fA-F0-9]{32}"),
    _token("databricks-token", "dapi", r"dapi[a-f0-9]{32}(?:-\d)?"),
    _token("grafana-token", "glsa_", r"glsa_[A-Za-z0-9]{32}_[A-Fa-f0-9]{8}"),
    _token("linear-key", "lin_api_", r"lin_api_[A-Za-z0-9]{40}"),
    _token("postman-key", "PMAK-", r"PMAK-[a-f0-9]{24}-[a-f0-9]{34}"),
    _token("newrelic-key", "NRAK-", r"NRAK-[A-Z0-9]{27}"),
    _token("square-token", "sq0", r"sq0(?:atp|csp|idp)-[A-Za-z0-9_\-]{22,43}", alphabet=_DASHED),
    _token("vault-token", "hvs. hvb.", r"hv[sb]\.[A-Za-z0-9_\-]{24,300}", alphabet=_DASHED),
    _token("terraform-token", ".atlasv1.", r"[A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_\-]{60,70}", alphabet=_DASHED),
    _token("age-secret-key", "AGE-SECRET-KEY-1", r"AGE-SECRET-KEY-1[0-9A-Z]{58}"),
)

# Long runs are a few percent of ordinary text: looking for most literals only there is what makes masking fast.
_LONG_RUN = re.compile(r"[A-Za-z0-9_\-]{20,}")
_BEFORE_RUN = 9

_ARMOUR_BEGIN = re.compile(r"-----BEGIN (?:[A-Z0-9]{1,12} ){0,3}PRIVATE KEY(?: BLOCK)?-----")
_ARMOUR_END = re.compile(r"-----END (?:[A-Z0-9]{1,12} ){0,3}PRIVATE KEY(?: BLOCK)?-----")
# A line ends for real or, in a string literal, as an escape; before and after it may stand what source code, diffs and
# YAML put around lines (quotes, a plus, commas, comment marks).
_LINE_BREAK = re.compile(r"(?:\\r)?\\n|\r?\n")
_DECORATION = " \t\"'`,;+#*>|/\\()."
_KEY_LINE = re.compile(r"[A-Za-z0-9+/=]+")
_HEADER_LINE = re.compile(r"[A-Za-z-]{3,20}: [^\n]{0,200}")
_PUTTY = re.compile(r"^Private-Lines: (\d{1,3})\r?\n((?:[A-Za-z0-9+/=]{1,80}(?:\r?\n|\Z)){1,200})", re.MULTILINE)


def mask_secrets(text: str) -> tuple[str, int]:
    """``text`` with each secret of a known format replaced by a mask, and how many there were.

    Line breaks are kept, so line numbers stay. Masking again changes nothing and counts 0.
    """
    count = 0
    if "PRIVATE KEY" in text or "Private-Lines" in text:
        text, count = _mask_spans(text, _private_keys(text), "private-key")
    runs = "\n".join(text[max(0, m.start() - _BEFORE_RUN) : m.end()] for m in _LONG_RUN.finditer(text))
    for rule in _RULES:
        where = runs if rule.in_run else text
        if any(literal in where for literal in rule.literals):
            text, found = _mask_spans(text, _secret_spans(rule, text), rule.name)
            count += found
    return text, count


def _secret_spans(rule: _Rule, text: str) -> Iterator[tuple[int, int]]:
    group = "secret" if "secret" in rule.regex.groupindex else 0
    return (match.span(group) for match in rule.regex.finditer(text))


def _mask_spans(text: str, spans: Iterator[tuple[int, int]], name: str) -> tuple[str, int]:
    pieces: list[str] = []
    position = 0
    for start, end in spans:
        lines = text.count("\n", start, end)
        pieces += [text[position:start], f"[redacted:{name}]", "\n" * lines]
        position = end
    if not pieces:
        return text, 0
    pieces.append(text[position:])
    return "".join(pieces), len(pieces) // 3


def _private_keys(text: str) -> Iterator[tuple[int, int]]:
    spans = [match.span(2) for match in _PUTTY.finditer(text)]
    position = 0
    while begin := _ARMOUR_BEGIN.search(text, position):
        position = begin.end()
        end = _key_end(text, position)
        if end:
            spans.append((begin.start(), end))
            position = end
    return iter(sorted(spans))


def _key_end(text: str, position: int) -> int:
    """Where the key ends whose armour begins before ``position``; 0 if no key material follows it.

    A key may be cut off: then it ends with its last line.
    """
    material = last = 0
    for _ in range(_MAX_KEY_LINES):
        line_break = _LINE_BREAK.search(text, position)
        line_end = line_break.start() if line_break else len(text)
        closing = _ARMOUR_END.search(text, position, line_end)
        line = text[position : closing.start() if closing else line_end].strip(_DECORATION)
        if _KEY_LINE.fullmatch(line):
            material += len(line)
            last = line_end
        elif line and not _HEADER_LINE.fullmatch(line):
            break
        if closing:
            return closing.end() if material >= 16 else 0
        if line_break is None:
            break
        position = line_break.end()
    return last if material >= 40 else 0
