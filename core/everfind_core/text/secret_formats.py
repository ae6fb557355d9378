"""The formats of secrets that are masked: what an issuer made recognisable, by itself or by what stands around it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache


@dataclass(frozen=True, slots=True)
class Rule:
    """One token format.

    Without one of the ``literals`` in the text the regex is not run. ``in_run``: the literal lies in or right before a
    long run of word characters, so only those have to be looked at. What is masked is the regex's group ``secret``,
    or the whole match.
    """

    name: str
    literals: tuple[str, ...]
    pattern: str
    in_run: bool = False

    @property
    def regex(self) -> re.Pattern[str]:
        """The pattern, compiled when it is first needed: there are many, and few texts need one."""
        return _compiled(self.pattern)


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)


def _ends(alphabet: str) -> str:
    """Nothing of ``alphabet`` follows, nor a mask: it may stand for what followed before, so that twice is once."""
    return rf"(?![{alphabet}]|\[redacted:)"


def _token(name: str, literals: str, pattern: str, *, alphabet: str = r"A-Za-z0-9_", in_run: bool = True) -> Rule:
    """A token that stands alone: nothing of its ``alphabet`` right before or after it."""
    return Rule(name, tuple(literals.split()), rf"(?<![A-Za-z0-9_])(?:{pattern}){_ends(alphabet)}", in_run=in_run)


def _assigned(name: str, literals: str, key: str, value: str) -> Rule:
    """A value that only its key name tells: ``key = "value"``, ``"key": "value"``, ``key=value;``, ``<key>value<``."""
    between = r"[\"']?(?:\s{0,8}(?:=>|:=|[=:,])\s{0,8}|>)[\"']?"
    return Rule(name, tuple(literals.split()), rf"{key}{between}(?P<secret>{value}){_ends('A-Za-z0-9/+=')}")


def _placed(name: str, literal: str, before: str, secret: str, *, alphabet: str) -> Rule:
    """A secret that its surroundings tell."""
    return Rule(name, (literal,), rf"{before}(?P<secret>{secret}){_ends(alphabet)}")


# Quantifiers are possessive or short, so each rule runs in linear time.
_DASHED = r"A-Za-z0-9_\-"
_UUID = r"[a-f0-9]{8}-[a-f0-9]{4}-[a-f0-9]{4}-[a-f0-9]{4}-[a-f0-9]{12}"
# A bot's token begins with its id, a number of 17 to 20 digits, in Base64: so few four-letter groups are possible.
_SNOWFLAKE = r"(?:[MNO][DTjz][AEIMQUYcgk][w-z0-5]){5,6}(?:[MNO][DTjz][AEIMQUYcgk]|[MNO][AQgw])?"
_SNOWFLAKES = " ".join(first + second for first in "MNO" for second in "DTjz")
# What stands in a password's place: a word for it, filling, or what is replaced later.
_PLACEHOLDER = (
    r"(?i:[a-z_.\-]{0,40}(?:pass(?:word|wd|phrase)?|pwd|pw|secret|token|api[_\-]?key|credentials?)\d{0,4}"
    r"|x{2,}|\*{2,}|\.{2,}|-{2,}|redacted|hidden|masked|change[_\-]?me|placeholder|example|foo|bar|baz|test"
    r"|\$[a-z_]\w{0,60}|\$\([^)@\s]{0,100}\)|%[sdr]|%\([a-z_]\w{0,60}\)s|%[a-z_]{1,60}%)"
)
RULES: tuple[Rule, ...] = (
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
    _token(
        "discord-token", _SNOWFLAKES, rf"{_SNOWFLAKE}\.[A-Za-z0-9_\-]{{6}}\.[A-Za-z0-9_\-]{{27,38}}", alphabet=_DASHED
    ),
    _token("mailchimp-key", "-us", r"[0-9a-f]{32}-us\d{1,2}", alphabet=_DASHED),
    _token("1password-token", "ops_eyJ", r"ops_eyJ[A-Za-z0-9+/]{250,}+={0,3}", alphabet=r"A-Za-z0-9+/=", in_run=False),
    _token("adobe-secret", "p8e-", r"p8e-[A-Za-z0-9]{32}", alphabet=_DASHED),
    _token("airtable-token", "pat", r"pat[A-Za-z0-9]{14}\.[a-f0-9]{64}", in_run=False),
    _token("alibaba-access-key-id", "LTAI", r"LTAI[A-Za-z0-9]{20}"),
    _token("artifactory-key", "AKCp", r"AKCp[A-Za-z0-9]{69}"),
    _token("artifactory-token", "cmVmd", r"cmVmd[A-Za-z0-9]{59}"),
    _token(
        "atlassian-token", "ATATT3 ATCTT3", r"AT[AC]TT3[A-Za-z0-9_\-=]{60,400}", alphabet=r"A-Za-z0-9_\-=", in_run=False
    ),
    _token("bitbucket-app-password", "ATBB", r"ATBB[A-Za-z0-9]{32}"),
    _token(
        "azure-key",
        "JQQJ99 JQQJ9D",
        r"[A-Za-z0-9]{52}JQQJ9[9D][A-Za-z0-9]{26}",
    ),
    _placed("azure-sas-signature", "sig=", r"[?&;]sig=", r"[A-Za-z0-9%]{40,80}%3[dD]", alphabet=r"A-Za-z0-9%"),
    _token("bedrock-key", "ABSK", r"ABSK[A-Za-z0-9+/]{109,269}={0,2}", alphabet=r"A-Za-z0-9+/=", in_run=False),
    _token("buildkite-token", "bkua_", r"bkua_[a-f0-9]{40}"),
    _token("circleci-token", "CCIPAT_ CCIPRJ_", r"CCIP(?:AT|RJ)_[A-Za-z0-9]{16,32}_[a-f0-9]{40}"),
    _token("clojars-token", "CLOJARS_", r"CLOJARS_[A-Za-z0-9]{60}"),
    _token("cloudflare-origin-key", "v1.0-", r"v1\.0-[a-f0-9]{24}-[a-f0-9]{146}", alphabet=_DASHED),
    _token("contentful-token", "CFPAT-", r"CFPAT-[A-Za-z0-9_\-]{43}", alphabet=_DASHED),
    _token("crates-io-token", "cio", r"cio[A-Za-z0-9]{32}"),
    _token(
        "doppler-token",
        "dp.",
        r"dp\.(?:pt|st|ct|sa|scim|audit)\.(?:[a-z0-9_\-]{1,35}\.)?[A-Za-z0-9]{40,44}",
        in_run=False,
    ),
    _token(
        "duffel-token", "duffel_", r"duffel_(?:test|live)_[A-Za-z0-9_\-=]{43}", alphabet=r"A-Za-z0-9_\-=", in_run=False
    ),
    _token("dynatrace-token", "dt0", r"dt0[a-z]\d\d\.[A-Z0-9]{24}\.[A-Z0-9]{64}", in_run=False),
    _token("easypost-key", "EZAK EZTK", r"EZ[AT]K[A-Za-z0-9]{54}"),
    _token("everfind-token", "evf_", r"evf_[A-Za-z0-9_\-]{43}", alphabet=_DASHED),
    _token("facebook-token", "EAAM EAAC", r"EAA[MC][A-Za-z0-9]{100,}+"),
    _token("figma-token", "figd_", r"figd_[A-Za-z0-9_\-]{40}", alphabet=_DASHED),
    _token("firebase-server-key", ":APA91b", r"[A-Za-z0-9_\-]{11}:APA91b[A-Za-z0-9_\-]{134}", alphabet=_DASHED),
    _token("flutterwave-key", "FLWSECK", r"FLWSECK(?:_TEST)?-[a-z0-9]{32}-X", alphabet=_DASHED),
    _token("flyio-token", "fo1_", r"fo1_[A-Za-z0-9_\-]{43}", alphabet=_DASHED),
    _token(
        "flyio-token",
        "fm1a_ fm1r_ fm2_",
        r"fm(?:1[ar]|2)_[A-Za-z0-9+/]{100,}+={0,3}",
        alphabet=r"A-Za-z0-9+/=",
        in_run=False,
    ),
    _token("google-refresh-token", "1//0", r"1//0[A-Za-z0-9_\-]{40,}+", alphabet=_DASHED),
    _token("grafana-token", "glc_eyJ", r"glc_eyJ[A-Za-z0-9+/]{32,400}={0,3}", alphabet=r"A-Za-z0-9+/=", in_run=False),
    _token("harness-key", "pat. sat.", r"[ps]at\.[A-Za-z0-9_\-]{22}\.[a-f0-9]{24}\.[A-Za-z0-9]{20}", in_run=False),
    _token("heroku-key", "HRKU-AA", r"HRKU-AA[A-Za-z0-9_\-]{58}", alphabet=_DASHED),
    _token("hubspot-token", "pat-na pat-eu", rf"pat-(?:na|eu)\d-{_UUID}", alphabet=_DASHED),
    _token("infracost-key", "ico-", r"ico-[A-Za-z0-9]{32}", alphabet=_DASHED),
    _token("langsmith-key", "lsv2_", r"lsv2_(?:pt|sk)_[a-f0-9]{32}_[a-f0-9]{10}"),
    _token("linear-key", "lin_oauth_", r"lin_oauth_[A-Za-z0-9]{40,64}"),
    _token("mapbox-secret-token", "sk.eyJ", r"sk\.eyJ[A-Za-z0-9_\-]{40,200}\.[A-Za-z0-9_\-]{20,30}", alphabet=_DASHED),
    _token("maxmind-key", "_mmk", r"[A-Za-z0-9]{6}_[A-Za-z0-9]{29}_mmk"),
    _token("netlify-token", "nfp_", r"nfp_[A-Za-z0-9]{36,40}"),
    _token("newrelic-key", "NRII-", r"NRII-[A-Za-z0-9_\-]{32}", alphabet=_DASHED),
    _token("notion-token", "ntn_", r"ntn_\d{11}[A-Za-z0-9]{35}"),
    _placed("npm-token", "_authToken=", r":_authToken=[\"']?", _UUID, alphabet=_DASHED),
    _token("nvidia-key", "nvapi-", r"nvapi-[A-Za-z0-9_\-]{64}", alphabet=_DASHED),
    _token("openshift-token", "sha256~", r"sha256~[A-Za-z0-9_\-]{43}", alphabet=_DASHED),
    _token("pinecone-key", "pcsk_", r"pcsk_[A-Za-z0-9]{5,6}_[A-Za-z0-9]{60,64}"),
    _token("plaid-token", "access-", rf"access-(?:sandbox|development|production)-{_UUID}", alphabet=_DASHED),
    _token(
        "planetscale-token",
        "pscale_",
        r"pscale_(?:pw|tkn|oauth)_[A-Za-z0-9_.\-=]{32,64}",
        alphabet=r"A-Za-z0-9_.\-=",
        in_run=False,
    ),
    _token("posthog-key", "phx_", r"phx_[A-Za-z0-9]{43,64}"),
    _token("prefect-key", "pnu_ pnb_", r"pn[ub]_[A-Za-z0-9]{36}"),
    _token("pulumi-token", "pul-", r"pul-[a-f0-9]{40}", alphabet=_DASHED),
    _token("readme-key", "rdme_", r"rdme_[a-z0-9]{70}"),
    _token("scalingo-token", "tk-us-", r"tk-us-[A-Za-z0-9_\-]{48}", alphabet=_DASHED),
    _token("sendinblue-key", "xkeysib-", r"xkeysib-[a-f0-9]{64}-[A-Za-z0-9]{16}", alphabet=_DASHED),
    _token("sentry-token", "sntryu_", r"sntryu_[a-f0-9]{64}"),
    _token(
        "sentry-token", "sntrys_eyJ", r"sntrys_eyJ[A-Za-z0-9+/_=\-]{80,500}", alphabet=r"A-Za-z0-9+/_=\-", in_run=False
    ),
    _token("shippo-token", "shippo_", r"shippo_(?:live|test)_[a-f0-9]{40}"),
    _token("sonar-token", "squ_ sqp_ sqa_", r"sq[upa]_[a-f0-9]{40}"),
    _token("sourcegraph-token", "sgp_", r"sgp_(?:(?:[a-fA-F0-9]{16}|local)_)?[a-fA-F0-9]{40}"),
    _token("supabase-token", "sbp_", r"sbp_[a-f0-9]{40}"),
    _token("supabase-token", "sb_secret_", r"sb_secret_[A-Za-z0-9_\-]{22}_[A-Za-z0-9_\-]{8}", alphabet=_DASHED),
    _token("tailscale-key", "tskey-", r"tskey-[a-z]{3,10}-[A-Za-z0-9]{8,24}-[A-Za-z0-9]{20,48}", alphabet=_DASHED),
    _placed(
        "teams-webhook",
        "webhook.office.com/",
        r"\.webhook\.office\.com/webhookb2/",
        rf"{_UUID}@{_UUID}/IncomingWebhook/[a-f0-9]{{32}}/{_UUID}(?:/[A-Za-z0-9_\-]{{40,50}})?",
        alphabet=_DASHED,
    ),
    _token("vercel-token", "vercel_blob_rw_", r"vercel_blob_rw_[A-Za-z0-9]{16}_[A-Za-z0-9]{30,32}"),
    _token("wakatime-key", "waka_", rf"waka_{_UUID}", alphabet=_DASHED),
    _token("yandex-key", "AQVN", r"AQVN[A-Za-z0-9_\-]{35,38}", alphabet=_DASHED),
    # Last: whatever has a format of its own is known by that. A password that repeats its user's name is a default.
    Rule(
        "url-password",
        ("://",),
        r"://(?<=[A-Za-z0-9]://)(?P<user>[A-Za-z0-9._~%+\-]{0,100}+):"
        rf"(?P<secret>(?!{_PLACEHOLDER}@|(?P=user)@)[A-Za-z0-9._~%!$&()*+,;=#?^:\-]{{3,200}}+)"
        r"@(?!sha\d{3}:)[A-Za-z0-9\[{$%<]",
    ),
)
