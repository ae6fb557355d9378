"""Masking: every known format, nothing else, lines kept, twice is once, in linear time.

No sample stands here whole, so that no scanner takes this file for a leak.
"""

from __future__ import annotations

import re
import sysconfig
import time
from hashlib import blake2b
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from everfind_core.text.secret_formats import RULES, Rule
from everfind_core.text.secrets import REVISION, mask_secrets

HEX = "0123456789abcdef"
ALNUM = "aB3dE6gH9jK2mN5pQ8sT1vW4yZ7" * 12
DASH = "-----"


def armour(label: str, *lines: str, end: str = "\n") -> str:
    return end.join([f"{DASH}BEGIN {label}{DASH}", *lines, f"{DASH}END {label}{DASH}"])


SAMPLES = {
    "github-token": [
        "ghp_" + ALNUM[:36],
        "gho_" + ALNUM[:36],
        "ghs_" + ALNUM[:80],
        "github_pat_" + ALNUM[:22] + "_" + ALNUM[:59],
    ],
    "gitlab-token": ["glpat-" + ALNUM[:20], "glrt-" + ALNUM[:20], "glpat-" + ALNUM[:27] + ".01.1a2b3c4d5"],
    "aws-access-key-id": ["AKIA" + "IOSFODNN7EXAMPLE", "ASIA" + "1234567890ABCDEF"],
    "slack-token": [
        "xoxb-" + "123456789012-1234567890123-" + ALNUM[:24],
        "xoxp-" + "1-2-3-" + ALNUM[:32],
        "xapp-1-" + "A0123456789-1234567890123-" + HEX * 4,
    ],
    "stripe-key": ["sk_live_" + ALNUM[:24], "rk_live_" + ALNUM[:24], "sk_test_" + ALNUM[:99]],
    "google-api-key": ["AIza" + ALNUM[:35]],
    "google-oauth-secret": ["GOCSPX-" + ALNUM[:28]],
    "anthropic-key": ["sk-ant-api03-" + ALNUM[:93] + "AA"],
    "openai-key": [
        "sk-" + ALNUM[:20] + "T3BlbkFJ" + ALNUM[:20],
        "sk-proj-" + ALNUM[:74] + "_-" + ALNUM[:50],
        "sk-" + HEX * 2,
    ],
    "huggingface-token": ["hf_" + ALNUM[:34]],
    "npm-token": ["npm_" + ALNUM[:36]],
    "pypi-token": ["pypi-" + "AgEIcHlwaS5vcmc" + ALNUM[:100]],
    "sendgrid-key": ["SG." + ALNUM[:22] + "." + ALNUM[:43]],
    "twilio-key": ["SK" + HEX * 2],
    "telegram-token": ["123456789" + ":AA" + ALNUM[:33]],
    "jwt": ["eyJ" + "hbGciOiJIUzI1NiJ9.eyJ" + "zdWIiOiIxMjM0NTY3ODkwIn0." + ALNUM[:43]],
    "digitalocean-token": ["dop_v1_" + HEX * 4],
    "shopify-token": ["shpat_" + HEX * 2],
    "databricks-token": ["dapi" + HEX * 2],
    "vault-token": ["hvs." + ALNUM[:90]],
    "terraform-token": [ALNUM[:14] + ".atlasv1." + ALNUM[:67]],
    "age-secret-key": ["AGE-SECRET-KEY-1" + "QPZRY9X8GF" * 5 + "TVDW0S3J"],
    "azure-client-secret": ["abc8Q~" + ALNUM[:34]],
    "docker-token": ["dckr_pat_" + ALNUM[:27]],
    "discord-token": [
        # The ids 123456789012345678 (24 letters of Base64), 1234567890123456789 and 12345678901234567.
        "MTIzNDU2Nzg5MDEyMzQ1Njc4" + ".Xq-9aB." + ALNUM[:27],
        "MTIzNDU2Nzg5MDEyMzQ1Njc4OQ" + ".G1_2aB." + ALNUM[:38],
        "MTIzNDU2Nzg5MDEyMzQ1Njc" + ".YBcdeF." + ALNUM[:27],
    ],
    "mailchimp-key": [HEX * 2 + "-us" + "6", HEX * 2 + "-us" + "21"],
    "airtable-token": ["pat" + ALNUM[:14] + "." + HEX * 4],
    "atlassian-token": ["ATATT3" + "xFfGF0" + ALNUM[:180] + "=1A2B3C4D"],
    "azure-key": [ALNUM[:52] + "JQQJ99" + ALNUM[:18] + "AZDO" + ALNUM[:4]],
    "buildkite-token": ["bkua_" + HEX * 2 + HEX[:8]],
    "circleci-token": ["CCIPAT_" + ALNUM[:22] + "_" + HEX * 2 + HEX[:8]],
    "contentful-token": ["CFPAT-" + ALNUM[:43]],
    "crates-io-token": ["cio" + ALNUM[:32]],
    "doppler-token": ["dp.pt." + ALNUM[:43], "dp.st.prd." + ALNUM[:43]],
    "dynatrace-token": ["dt0c01." + "ABCDEFGH12345678IJKLMNOP." + "ABCDEFGH12345678" * 4],
    "everfind-token": ["evf_" + ALNUM[:20] + "_-" + ALNUM[:21]],
    "figma-token": ["figd_" + ALNUM[:40]],
    "flyio-token": ["fo1_" + ALNUM[:43], "fm2_" + ALNUM[:160] + "=="],
    "google-refresh-token": ["1//0" + "4" + ALNUM[:60]],
    "grafana-token": ["glsa_" + ALNUM[:32] + "_" + "0a1b2c3D", "glc_eyJ" + ALNUM[:100] + "=="],
    "heroku-key": ["HRKU-AA" + ALNUM[:58]],
    "hubspot-token": ["pat-na1-" + "01234567-89ab-cdef-0123-456789abcdef"],
    "langsmith-key": ["lsv2_pt_" + HEX * 2 + "_" + HEX[:10]],
    "netlify-token": ["nfp_" + ALNUM[:36]],
    "notion-token": ["ntn_" + "12345678901" + ALNUM[:35]],
    "nvidia-key": ["nvapi-" + ALNUM[:64]],
    "pinecone-key": ["pcsk_" + ALNUM[:5] + "_" + ALNUM[:63]],
    "planetscale-token": ["pscale_pw_" + ALNUM[:43]],
    "posthog-key": ["phx_" + ALNUM[:43]],
    "pulumi-token": ["pul-" + HEX * 2 + HEX[:8]],
    "sendinblue-key": ["xkeysib-" + HEX * 4 + "-" + ALNUM[:16]],
    "sentry-token": ["sntryu_" + HEX * 4, "sntrys_eyJ" + ALNUM[:120] + "=_" + ALNUM[:43]],
    "sonar-token": ["squ_" + HEX * 2 + HEX[:8]],
    "sourcegraph-token": ["sgp_" + HEX + "_" + HEX * 2 + HEX[:8]],
    "supabase-token": ["sbp_" + HEX * 2 + HEX[:8]],
    "tailscale-key": ["tskey-auth-" + "kAbCdE1CNTRL-" + ALNUM[:32]],
}


@pytest.mark.parametrize(("name", "secret"), [(n, s) for n, group in SAMPLES.items() for s in group])
@pytest.mark.parametrize(
    "around", ["{}", 'token = "{}"\n', "curl -H 'Authorization: Bearer {}' x", "A={};B", "[{}](x)"]
)
def test_each_format_is_masked_wherever_it_stands(name: str, secret: str, around: str) -> None:
    assert mask_secrets(around.format(secret)) == (around.format(f"[redacted:{name}]"), 1)


@pytest.mark.parametrize("secret", [s for group in SAMPLES.values() for s in group])
def test_part_of_a_longer_word_is_left_alone(secret: str) -> None:
    assert mask_secrets("x" + secret)[1] == 0


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        ("aws_secret_access_key = {}", "aws_secret_access_key = [redacted:aws-secret-access-key]"),
        ('AWS_SECRET_ACCESS_KEY="{}"', 'AWS_SECRET_ACCESS_KEY="[redacted:aws-secret-access-key]"'),
        ('{{"SecretAccessKey": "{}"}}', '{{"SecretAccessKey": "[redacted:aws-secret-access-key]"}}'),
        ("secretAccessKey: '{}',", "secretAccessKey: '[redacted:aws-secret-access-key]',"),
        ("<SecretAccessKey>{}</x>", "<SecretAccessKey>[redacted:aws-secret-access-key]</x>"),
        ("secret_access_key => '{}'", "secret_access_key => '[redacted:aws-secret-access-key]'"),
    ],
)
def test_an_aws_secret_is_known_by_its_key_name(text: str, masked: str) -> None:
    secret = "wJalrXUtnFEMI/K7MDENG/bPxRfiCY" + "EXAMPLEKEY"
    assert mask_secrets(text.format(secret)) == (masked.format(), 1)
    assert mask_secrets(text.format(secret[1:]))[1] == 0
    assert mask_secrets(f"digest = {secret}")[1] == 0


def test_connection_strings_and_webhooks_keep_what_is_no_secret() -> None:
    text = f"DefaultEndpointsProtocol=https;AccountName=me;AccountKey={ALNUM[:86]}==;EndpointSuffix=core"
    assert mask_secrets(text) == (
        "DefaultEndpointsProtocol=https;AccountName=me;AccountKey=[redacted:azure-storage-key];EndpointSuffix=core", 1,
    )  # fmt: skip
    hook = "https://hooks.slack.com/services/" + "T00000000/B00000000/" + ALNUM[:24]
    assert mask_secrets(f"POST {hook} now") == ("POST https://hooks.slack.com/services/[redacted:slack-webhook] now", 1)


@pytest.mark.parametrize(
    ("url", "masked"),
    [
        ("postgres://app:s3cr-Et@db.example.org:5432/x", "postgres://app:{}@db.example.org:5432/x"),
        ("redis://:Zx9!k2#v@10.0.0.1", "redis://:{}@10.0.0.1"),
        ("git+https://me:a%20b%40c@[::1]/r.git", "git+https://me:{}@[::1]/r.git"),
        ("amqp://svc:tr0ub4dor&3@${HOST}/", "amqp://svc:{}@${HOST}/"),
        ("jdbc:mysql://root:root1@localhost", "jdbc:mysql://root:{}@localhost"),
    ],
)
def test_a_password_in_a_url_is_masked_and_nothing_else_of_it(url: str, masked: str) -> None:
    expected = masked.format("[redacted:url-password]", HOST="{HOST}")
    for around in ("{}", 'url = "{}"\n', "<{}>", "see {} and {}"):
        count = around.count("{}")
        assert mask_secrets(around.replace("{}", url)) == (around.replace("{}", expected), count)


@pytest.mark.parametrize(
    "password",
    [
        *(
            "password",
            "PASSWORD",
            "passwd1",
            "your-password",
            "db_pass",
            "secret",
            "xxx",
            "XXXXXXXX",
            "****",
            "...",
            "pw",
        ),
        *("${PASS}", "$PASS", "$(cat f)", "%s", "%(pw)s", "%PASS%", "{password}", "{{ pw }}", "<password>", "[pw]"),
        *("user", "changeme", "change_me", "example", "redacted", "a/b", "a b", 'a"b', ""),
    ],
)
def test_a_placeholder_for_a_password_stays(password: str) -> None:
    text = f"curl https://user:{password}@example.org/"
    assert mask_secrets(text) == (text, 0)


@pytest.mark.parametrize(
    "text",
    [
        "http://localhost:8080/@scope/package and http://host:80/a:b@c",
        "docker://image:latest@sha256:0123456789abcdef",
        "ssh://git@example.org:22/me/repo.git, mailto:me@example.org, //user:p4ss@host",
        "http://[::1]:8080/ http://example.org:443 see@example.org",
    ],
)
def test_a_url_without_a_password_stays(text: str) -> None:
    assert mask_secrets(text) == (text, 0)


def test_webhooks_and_signatures_are_known_by_what_stands_before_them() -> None:
    uuid = "01234567-89ab-cdef-0123-456789abcdef"
    teams = f"https://me.webhook.office.com/webhookb2/{uuid}@{uuid}/IncomingWebhook/{HEX * 2}/{uuid}"
    assert mask_secrets(teams) == ("https://me.webhook.office.com/webhookb2/[redacted:teams-webhook]", 1)
    signed = "https://me.blob.core.windows.net/c?sv=2024-01-01&sig=" + ALNUM[:42] + "%3D&se=2026"
    assert mask_secrets(signed) == (
        "https://me.blob.core.windows.net/c?sv=2024-01-01&sig=[redacted:azure-sas-signature]&se=2026", 1,
    )  # fmt: skip
    npmrc = f"//registry.example.org/:_authToken={uuid}\n"
    assert mask_secrets(npmrc) == ("//registry.example.org/:_authToken=[redacted:npm-token]\n", 1)


def test_the_revision_follows_the_formats() -> None:
    recipe = "\n".join(["2", *(f"{rule.name} {rule.pattern}" for rule in RULES)])
    assert blake2b(recipe.encode(), digest_size=8).hexdigest() == REVISION
    assert all(rule.regex.flags & ~re.UNICODE == 0 for rule in RULES)


BODY = [ALNUM[:64], ALNUM[1:65], ALNUM[:30] + "=="]


@pytest.mark.parametrize(
    "label",
    [
        "PRIVATE KEY",
        "RSA PRIVATE KEY",
        "EC PRIVATE KEY",
        "OPENSSH PRIVATE KEY",
        "ENCRYPTED PRIVATE KEY",
        "PGP PRIVATE KEY BLOCK",
    ],
)
def test_a_private_key_becomes_one_mask_and_its_lines_stay(label: str) -> None:
    text = f"before\n{armour(label, *BODY)}\nafter\n"
    assert mask_secrets(text) == ("before\n[redacted:private-key]\n\n\n\n\nafter\n", 1)


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        (
            armour("RSA PRIVATE KEY", "Proc-Type: 4,ENCRYPTED", "DEK-Info: AES-128-CBC,0123", "", *BODY),
            "[redacted:private-key]" + "\n" * 7,
        ),
        (f'key = "{armour("PRIVATE KEY", *BODY, end=chr(92) + "n")}\\n"', 'key = "[redacted:private-key]\\n"'),
        (
            "".join(f'  "{line}\\n"\n' for line in armour("PRIVATE KEY", *BODY).split("\n")),
            '  "[redacted:private-key]' + "\n" * 4 + '\\n"\n',
        ),
        (
            "".join(f"# {line}\n" for line in armour("PRIVATE KEY", *BODY).split("\n")),
            "# [redacted:private-key]" + "\n" * 5,
        ),
        (f"{DASH}BEGIN PRIVATE KEY{DASH}\n{BODY[0]}\n{BODY[1]}\nThe end.", "[redacted:private-key]\n\n\nThe end."),
        (
            f"PuTTY-User-Key-File-3: x\nPrivate-Lines: 2\n{BODY[0]}\n{BODY[1]}\nPrivate-MAC: 00",
            "PuTTY-User-Key-File-3: x\nPrivate-Lines: 2\n[redacted:private-key]\n\nPrivate-MAC: 00",
        ),
    ],
)
def test_private_keys_as_files_hold_them(text: str, masked: str) -> None:
    assert mask_secrets(text) == (masked, 1)


@pytest.mark.parametrize(
    "text",
    [
        f"begin = '{DASH}BEGIN PRIVATE KEY{DASH}'\nend = '{DASH}END PRIVATE KEY{DASH}'\n",
        f"if line.startswith('{DASH}BEGIN RSA PRIVATE KEY{DASH}'):\n    read()\nelse:\n    pass\n",
        armour("PRIVATE KEY", "..."),
        armour("PRIVATE KEY", "<your key here>"),
        armour("PUBLIC KEY", *BODY),
        armour("CERTIFICATE", *BODY),
        "sk-learn, task-force, sk-spinner-grow-animation-with-a-long-name-indeed",
        "ghp_short glpat-short hf_hub_download_with_a_long_name_of_words npm_config_registry_and_more",
        "SKELETON SK123 eyJ eyJhbGciOiJub25lIn0.eyJzdWIiOiIxIn0.",
        HEX * 4,
        ALNUM[:64],
    ],
)
def test_what_only_looks_like_a_secret_stays(text: str) -> None:
    assert mask_secrets(text) == (text, 0)


def test_nothing_is_masked_in_the_standard_library() -> None:
    library = Path(sysconfig.get_path("stdlib"))
    sources = sorted(library.glob("*.py")) + sorted(library.glob("[a-r]*/*.py"))
    assert len(sources) > 300
    hit = [source for source in sources if mask_secrets(source.read_text("utf-8", "replace"))[1]]
    assert hit == []


# What looks behind itself cannot be made from its regex.
PLAIN = [rule for rule in RULES if "(?P=" not in rule.pattern]
TOKENS = st.one_of(
    *(st.from_regex(rule.regex, fullmatch=True, alphabet=st.characters(codec="ascii")) for rule in PLAIN),
    st.from_regex(r"\A[a-z]{1,5}://[a-z]{0,5}:[!-~]{1,20}@[a-z]{1,5}\Z"),
)
KEYS = st.lists(st.text(ALNUM, min_size=16, max_size=70), min_size=1).map(lambda lines: armour("PRIVATE KEY", *lines))
GLUE = st.sampled_from(["", "\n", " ", '"', "-", "_", ".", "/", "=", ":", "a", "9", "漢", "\\n", "[", "sk-", "+"])
PIECES = st.lists(st.tuples(TOKENS | KEYS | st.text(max_size=20), GLUE), max_size=8)


@pytest.mark.parametrize("rule", PLAIN, ids=lambda rule: f"{rule.name}-{rule.literals[0]}")
def test_whatever_a_rule_matches_is_found_by_its_literals(rule: Rule) -> None:
    @given(
        st.from_regex(rule.regex, fullmatch=True, alphabet=st.characters(codec="ascii")),
        st.sampled_from([" ", '"', "\n"]),
    )
    @settings(max_examples=5, deadline=None)
    def check(token: str, around: str) -> None:
        assert mask_secrets(f"{around}{token}{around}")[1] >= 1

    check()


@given(PIECES)
@settings(max_examples=60, deadline=None)
def test_lines_stay_and_twice_is_once(pieces: list[tuple[str, str]]) -> None:
    text = "".join(piece + glue for piece, glue in pieces)
    masked, count = mask_secrets(text)
    assert masked.count("\n") == text.count("\n")
    assert mask_secrets(masked) == (masked, 0)
    assert masked.count("[redacted:") - text.count("[redacted:") == count


@pytest.mark.parametrize(
    "unit",
    [
        "ghp_",
        "xoxb-",
        "eyJaaaaaaaaaaaaaaaaaaaa.",
        "sk-",
        "A",
        f"{DASH}BEGIN PRIVATE KEY{DASH}\n",
        f"{DASH}BEGIN PRIVATE KEY{DASH}\nABCD\n",
        "aws_secret_access_key=",
        "Private-Lines: 9\n",
        "1234567890:AA",
        "1Q~",
        "a://",
        "a://b:",
        "a://b:c",
        "MTIz",
        "0123456789abcdef0123456789abcdef-us",
        "sntrys_eyJ",
    ],
)
def test_hostile_text_takes_linear_time(unit: str) -> None:
    def seconds(characters: int) -> float:
        text = unit * (characters // len(unit))
        started = time.process_time()
        mask_secrets(text)
        return time.process_time() - started

    assert seconds(400_000) < 8 * max(seconds(100_000), 0.01)
