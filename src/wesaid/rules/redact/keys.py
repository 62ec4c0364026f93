"""Rows for keys that are known by how they begin; they need no context. A new vendor is a new line.

A prefix counts only where no word runs into it, and only with a body that is long enough and looks random: ``sk-`` is also in
``task-force``, and ``npm_config_registry`` is no token.
"""

from __future__ import annotations

from typing import Final

from wesaid.rules.redact.shapes import EXAMPLE_26, EXAMPLE_HEX_32, LEFT, LEFT_TIGHT, NO_WORDS, Rule

_B: Final = EXAMPLE_26
_HEX: Final = EXAMPLE_HEX_32
_ANY: Final = "[A-Za-z0-9_-]"  # a body with the punctuation of base64url
_ALNUM: Final = "[A-Za-z0-9]"


def _key(kind: str, prefixes: str, body: str, *examples: str | tuple[str, str], not_: tuple[str, ...] = (), pattern: str = "") -> Rule:
    """A row: ``prefixes`` separated by spaces, each a literal; ``body`` the regex after them; ``examples`` whole keys, or text and secret."""
    heads = prefixes.split()
    escaped = "|".join(head.replace(".", r"\.") for head in heads)
    return Rule(
        kind=kind,
        anchors=tuple(head.lower() for head in heads),
        pattern=pattern or f"{LEFT}(?:{escaped}){body}",
        examples=tuple(one if isinstance(one, tuple) else (one, one) for one in examples),
        not_examples=(*(f"keys of that kind begin with {head}, they say" for head in heads), *not_),
    )


def _random(length: str, letters: str = _ANY) -> str:
    """A body of such a length (``"16,"``) that is no name of words; where its digits stand, if it has any, is chance."""
    return f"{NO_WORDS}{letters}{{{length}}}+"


KEYS: Final[tuple[Rule, ...]] = (
    _key(
        "jwt",
        "eyJ",
        "",
        f"eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.{_B}",
        not_=("greyJay.birds.fly",),
        pattern=LEFT_TIGHT + r"eyJ[A-Za-z0-9_-]{10,}+\.[A-Za-z0-9_-]{10,}+(?:\.[A-Za-z0-9_-]*+){0,3}+",
    ),
    _key(
        "sk-key",
        "sk-",
        _random("16,"),
        f"sk-{_B}",
        f"sk-ant-api03-{_B}",
        f"sk-proj-{_B}_{_B}",
        "sk-test-000000000000000000000000",
        not_=("task-force-2026-planning-meeting", "skip-1-skip-2-skip-3-skip-4", "sk-learn-pipelines-and-transformers"),
    ),
    _key(
        "github-token",
        "ghp_ gho_ ghu_ ghs_ ghr_ github_pat_",
        "",
        f"ghp_{_B}0123456789",
        f"ghs_{_B}0123456789",
        f"github_pat_11ABCDEFG0_{_B}",
        not_=("ghp_example",),
        pattern=LEFT + r"(?:gh[pousr]_[A-Za-z0-9]{30,}+|github_pat_[A-Za-z0-9_]{22,}+)",
    ),
    _key(
        "gitlab-token",
        "glpat- gldt- glrt- glcbt- glptt- glft- glsoat- glimt- glagent- gloas- glffct-",
        _random("18,", "[A-Za-z0-9_.-]"),
        f"glpat-{_B}",
        f"glrt-{_B}",
        not_=("the glagent-configuration-of-2026",),
    ),
    _key(
        "slack-token",
        "xoxa- xoxb- xoxc- xoxd- xoxe- xoxo- xoxp- xoxr- xoxs- xoxe.xoxp- xoxe.xoxb- xapp-",
        _random("10,", "[A-Za-z0-9%/+=-]"),
        f"xoxb-123456789012-{_B}",
        f"xapp-1-A012345-{_B}",
        f"xoxe.xoxp-1-{_B}",
    ),
    _key(
        "slack-webhook",
        "hooks.slack.com/",
        r"(?:services|workflows|triggers)/([A-Za-z0-9/_-]{20,}+)",
        (f"https://hooks.slack.com/services/T01234567/B01234567/{_B}", f"T01234567/B01234567/{_B}"),
        not_=("see hooks.slack.com/services/docs",),
    ),
    _key(
        "discord-webhook",
        "discord.com/api/ discordapp.com/api/",
        r"(?:v[0-9]{1,2}/)?webhooks/[0-9]{15,20}/([A-Za-z0-9_-]{24,}+)",
        (f"https://discord.com/api/webhooks/900000000000000000/{_B}_{_B}", f"{_B}_{_B}"),
        not_=("https://discord.com/api/webhooks/docs-and-more",),
    ),
    _key(
        "aws-key-id",
        "AKIA ASIA",
        "[0-9A-Z]{16}(?![0-9A-Za-z])",
        "AKIAIOSFODNN7EXAMPLE",
        "ASIAIOSFODNN7EXAMPLE",
        not_=("the ASIAPACIFIC region",),
    ),
    _key("tencent-key-id", "AKID", f"{NO_WORDS}[A-Za-z0-9]{{28,40}}(?![A-Za-z0-9])", f"AKID{_B}012345"),
    _key("alibaba-key-id", "LTAI", f"{NO_WORDS}[A-Za-z0-9]{{12,24}}(?![A-Za-z0-9])", "LTAI5tExampleExample0123"),
    _key("google-api-key", "AIza", "[0-9A-Za-z_-]{35,}+", f"AIza{_B}012345678"),
    _key("google-oauth-token", "ya29.", "[0-9A-Za-z_-]{20,}+", f"ya29.a0{_B}"),
    _key("google-refresh-token", "1//0", "[0-9A-Za-z_-]{24,}+", f"1//0g{_B}", not_=("1//0 is a division", "path/1//0/2")),
    _key("google-oauth-secret", "GOCSPX-", "[0-9A-Za-z_-]{20,}+", f"GOCSPX-{_B}"),
    _key(
        "huggingface-token",
        "hf_ api_org_",
        "[A-Za-z0-9]{26,}+",
        f"hf_{_B}",
        f"api_org_{_B}",
        not_=("hf_hub_download_and_cache_everything",),
    ),
    _key("npm-token", "npm_", "[A-Za-z0-9]{30,}+", f"npm_{_B}0123456789", not_=("npm_config_registry",)),
    _key("pypi-token", "pypi-Ag", "[A-Za-z0-9_-]{26,}+", f"pypi-AgEIcHlwaS5vcmc{_B}"),
    _key("rubygems-key", "rubygems_", "[0-9a-f]{40,}+", f"rubygems_{_HEX}01234567"),
    _key(
        "stripe-key",
        "sk_live_ sk_test_ rk_live_ rk_test_ whsec_",
        _random("10,", "[A-Za-z0-9+/=]"),
        *(f"{head}{_B}" for head in ("sk_live_", "sk_test_", "rk_live_", "whsec_")),
        not_=("task_test_something_long_enough",),
    ),
    _key("sendgrid-key", "SG.", "", f"SG.{_B}.{_B}{_B}", pattern=LEFT_TIGHT + r"SG\.[A-Za-z0-9_-]{16,}+\.[A-Za-z0-9_-]{16,}+"),
    _key("brevo-key", "xkeysib- xsmtpsib-", "[A-Za-z0-9-]{32,}+", f"xkeysib-{_HEX}-{_B}"),
    _key("mailgun-key", "key-", "[0-9a-f]{32}(?![0-9A-Za-z])", f"key-{_HEX}", not_=("key-value-stores-and-more",)),
    _key("groq-key", "gsk_", "[A-Za-z0-9]{20,}+", f"gsk_{_B}"),
    _key("perplexity-key", "pplx-", _random("20,"), f"pplx-{_B}"),
    _key("xai-key", "xai-", _random("20,"), f"xai-{_B}", not_=("xai-explainability-of-models",)),
    _key("nvidia-key", "nvapi-", _random("20,"), f"nvapi-{_B}"),
    _key("replicate-token", "r8_", "[A-Za-z0-9]{26,}+", f"r8_{_B}"),
    _key("fireworks-key", "fw_ fpk_", f"{NO_WORDS}[A-Za-z0-9]{{20,}}+", f"fw_{_B}", f"fpk_{_B}"),
    _key("fal-key", "fal_", f"{NO_WORDS}[A-Za-z0-9:_-]{{20,}}+", f"fal_{_B}"),
    _key("firecrawl-key", "fc-", f"{NO_WORDS}[A-Za-z0-9]{{24,}}+", f"fc-{_HEX}", not_=("fc-barcelona-2026-season",)),
    _key("tavily-key", "tvly-", _random("16,"), f"tvly-{_B}"),
    _key("exa-key", "exa_", f"{NO_WORDS}[A-Za-z0-9]{{20,}}+", f"exa_{_B}", not_=("exa_search_results_of_2026",)),
    _key("langsmith-key", "lsv2_pt_ lsv2_sk_", "[A-Za-z0-9_]{20,}+", f"lsv2_pt_{_HEX}_0123456789"),
    _key("mem0-key", "mem0_ m0-", f"{NO_WORDS}[A-Za-z0-9]{{20,}}+", f"mem0_{_B}", f"m0-{_B}"),
    _key("runpod-key", "rpa_", f"{NO_WORDS}[A-Z0-9a-z]{{24,}}+", f"rpa_{_B}"),
    _key("helicone-key", "hsk-", _random("16,"), f"hsk-{_B}"),
    _key("matrix-token", "syt_", "[A-Za-z0-9]{2,}+_[A-Za-z0-9]{12,}+_[A-Za-z0-9]{4,}+", f"syt_ZmVycnk_{_B}_01abcd"),
    _key("fernet-token", "gAAAA", "[A-Za-z0-9_-]{40,}+={0,2}", f"gAAAAABh{_B}{_B}=="),
    _key("digitalocean-token", "dop_v1_ doo_v1_ dor_v1_", "[0-9a-f]{40,}+", f"dop_v1_{_HEX}{_HEX}"),
    _key("doppler-token", "dp.pt. dp.st. dp.ct. dp.sa. dp.scim. dp.audit.", r"(?:[a-z0-9_-]{2,35}\.)?[A-Za-z0-9]{24,}+", f"dp.pt.{_B}{_B}"),
    _key("docker-token", "dckr_pat_ dckr_oat_", "[A-Za-z0-9_-]{20,}+", f"dckr_pat_{_B}0"),
    _key("buildkite-token", "bkua_ bkcq_ bkct_", "[0-9a-zA-Z]{24,}+", f"bkua_{_HEX}01234567"),
    _key("circleci-token", "CCIPAT_ CCIPRJ_", "[A-Za-z0-9_]{20,}+", f"CCIPAT_{_B}_{_HEX}"),
    _key("supabase-key", "sbp_ sb_secret_", f"{NO_WORDS}[A-Za-z0-9_-]{{20,}}+", f"sbp_{_HEX}01234567", f"sb_secret_{_B}"),
    _key("databricks-token", "dapi", "[0-9a-f]{32}(?:-[0-9])?(?![0-9A-Za-z])", f"dapi{_HEX}", not_=("the dapi-simulator-of-tests",)),
    _key("datadog-key", "ddpat_ ddapp_ ddp_", f"{NO_WORDS}[A-Za-z0-9_-]{{20,}}+", f"ddpat_{_B}"),
    _key("newrelic-key", "NRAK- NRII- NRJS-", "[A-Za-z0-9_-]{16,}+", f"NRAK-{_B}0"),
    _key("grafana-token", "glsa_ glc_", f"{NO_WORDS}[A-Za-z0-9_+/]{{24,}}+={{0,2}}", f"glsa_{_B}0123_0a1b2c3d", f"glc_{_B}=="),
    _key("sentry-token", "sntrys_ sntryu_", "[A-Za-z0-9_+/=]{24,}+", f"sntryu_{_HEX}{_HEX}"),
    _key("posthog-key", "phx_", "[A-Za-z0-9]{24,}+", f"phx_{_B}"),
    _key("netlify-token", "nfp_ nfc_ nfo_", f"{NO_WORDS}[A-Za-z0-9_]{{24,}}+", f"nfp_{_B}"),
    _key("vercel-token", "vcp_ vci_ vca_ vcr_ vck_", f"{NO_WORDS}[A-Za-z0-9_-]{{20,}}+", f"vcp_{_B}"),
    _key("contentful-token", "CFPAT-", "[A-Za-z0-9_-]{24,}+", f"CFPAT-{_B}"),
    _key("atlassian-token", "ATATT3 ATCTT3 ATBB ATSTT3", "[A-Za-z0-9_=+/-]{24,}+", f"ATATT3xFf{_B}=0A1B2C3D", f"ATBB{_B}"),
    _key("bitbucket-token", "BBDC-", "[A-Za-z0-9+/@_-]{30,}+", f"BBDC-{_B}{_B}"),
    _key("heroku-key", "HRKU-", "[A-Za-z0-9_-]{24,}+", "HRKU-01234567-0123-4000-8000-0123456789ab"),
    _key("hubspot-token", "pat-eu1- pat-na1- pat-na2-", "[0-9a-fA-F-]{30,}+", "pat-eu1-01234567-0123-4000-8000-0123456789ab"),
    _key("apify-token", "apify_api_", "[A-Za-z0-9]{24,}+", f"apify_api_{_B}"),
    _key("fly-token", "fm1r_ fm1a_ fm2_ fo1_", f"{NO_WORDS}[A-Za-z0-9+/_=-]{{24,}}+", f"fm2_lJPEC{_B}=="),
    _key("frameio-token", "fio-u-", _random("20,"), f"fio-u-{_B}{_B}"),
    _key("shopify-token", "shpat_ shpss_ shpca_ shppa_", "[0-9a-fA-F]{30,}+", f"shpat_{_HEX}"),
    _key("square-token", "sq0atp- sq0csp- sq0idp-", "[A-Za-z0-9_-]{20,}+", f"sq0atp-{_B}"),
    _key("square-access-token", "EAAA", "[A-Za-z0-9_-]{50,}+", f"EAAAE{_B}{_B}0123"),
    _key("elevenlabs-key", "sk_", "[0-9a-f]{40,}+", f"sk_{_HEX}0123456789abcdef"),
    _key(
        "notion-secret", "secret_", "[A-Za-z0-9]{40,}+", f"secret_{_B}{_B}", not_=("secret_of_a_long_and_happy_life_without_any_meetings",)
    ),
    _key("dropbox-token", "sl.", "(?:u\\.)?[A-Za-z0-9_-]{60,}+", f"sl.{_B}{_B}{_B}", not_=("see sl.example",)),
    _key("cloudflare-key", "v1.0-", "[0-9a-f]{20,}+(?:-[0-9a-f]{20,}+)?", f"v1.0-{_HEX}-{_HEX}{_HEX}", not_=("v1.0-beta1",)),
    _key("facebook-token", "EAACE EAAG EAAB", "[A-Za-z0-9]{40,}+", f"EAACE{_B}{_B}"),
    _key("linear-key", "lin_api_ lin_oauth_", "[A-Za-z0-9]{24,}+", f"lin_api_{_B}"),
    _key("notion-token", "ntn_", f"{NO_WORDS}[A-Za-z0-9]{{30,}}+", f"ntn_0123456789{_B}"),
    _key("figma-token", "figd_", "[A-Za-z0-9_-]{24,}+", f"figd_{_B}"),
    _key("postman-key", "PMAK-", "[A-Za-z0-9-]{24,}+", f"PMAK-{_HEX}-0123"),
    _key("vault-token", "hvs. hvb. hvr.", "[A-Za-z0-9_-]{20,}+", f"hvs.{_B}"),
    _key(
        "terraform-token", ".atlasv1.", "", (f"xY12zW34vU56tS.atlasv1.{_B}{_B}", f"{_B}{_B}"), pattern=r"\.atlasv1\.([A-Za-z0-9_=-]{40,}+)"
    ),
    _key("pulumi-token", "pul-", "[0-9a-f]{40}(?![0-9A-Za-z])", f"pul-{_HEX}01234567"),
    _key("tailscale-key", "tskey-", "[A-Za-z0-9-]{16,}+", f"tskey-auth-{_B}", not_=("tskey-files",)),
    _key("onepassword-token", "ops_eyJ", "[A-Za-z0-9_=-]{24,}+", f"ops_eyJ{_B}{_B}"),
    _key("resend-key", "re_", "[A-Za-z0-9]{8}_[A-Za-z0-9]{20,}+", f"re_AbCd3fGh_{_B}"),
    _key("age-key", "AGE-SECRET-KEY-1", "[A-Z0-9]{50,}+", f"AGE-SECRET-KEY-1{'QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L' * 2}"),
    _key("secret-token-uri", "secret-token:", "[A-Za-z0-9._~%!$&'()*+,;=:@-]{8,}+", f"secret-token:{_B}"),
    _key(
        "telegram-token", ":AA", "", (f"987654321:AAF{_B}0123456", f"AAF{_B}0123456"), pattern=r"(?<=[0-9]{8}):(AA[A-Za-z0-9_-]{30,}+)"
    ),  # the digits are the bot's public id
    Rule(
        kind="twilio-key",
        anchors=(),  # "sk" is in too many words
        pattern=r"S(?<![A-Za-z0-9].)K[0-9a-f]{32}(?![0-9A-Za-z])",
        examples=((f"SK{_HEX}", f"SK{_HEX}"),),
        not_examples=(f"DISK{_HEX}", "SK0123"),
    ),
    Rule(
        kind="discord-token",
        anchors=(),  # no letters of its own: base64 of a number, a time and a signature; looked for everywhere
        pattern=r"[MNO](?<![A-Za-z0-9_-].)[A-Za-z0-9_-]{22,27}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,45}(?![A-Za-z0-9_.-])",
        examples=((f"MTAwMDAwMDAwMDAwMDAwMDAw.GaBcDe.{_B}AbCd3f", f"MTAwMDAwMDAwMDAwMDAwMDAw.GaBcDe.{_B}AbCd3f"),),
        not_examples=("MyVeryLongModuleNameForTests.method.anotherVeryLongMethodName",),
    ),
)
