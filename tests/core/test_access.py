"""Access: actors, sessions, which variables are secret, and addresses behind proxies."""

import pytest

from cases import cases
from weft.core.access.actors import SITE_ADMINISTRATOR, shown_actor, shown_reason, site_actor
from weft.core.access.secret_variables import MASK, is_masked, masked, patterns_of
from weft.core.access.sessions import cookie_of, csrf_token_of, is_same_origin, session_in
from weft.core.access.trusted_proxies import (
    host_of,
    is_trusted,
    origin_of,
    parse_networks,
    scheme_of,
)
from weft.settings import Settings


@cases("name", ["root", "a of tenant 7", "x of tenant 7 of tenant 8", "user root of tenant 1"])
def test_name_is_shown_in_its_own_tenant_and_to_administrators_of_the_site(name: str) -> None:
    """Whatever the name looks like: the last number is the one that was added."""
    written = site_actor(name, tenant_id=1)

    assert shown_actor(written, to_tenant_id=1) == f"user {name}"
    assert shown_actor(written, to_tenant_id=None) == f"user {name}"
    for other in (7, 8, 11):
        assert shown_actor(written, to_tenant_id=other) == SITE_ADMINISTRATOR


@pytest.mark.parametrize("by", ["weft", "autoscaler", "driver"])
def test_what_is_no_person_is_shown(by: str) -> None:
    assert shown_actor(by, to_tenant_id=5) == shown_actor(by, to_tenant_id=None) == by


def test_name_of_an_unknown_tenant_is_shown_to_administrators_of_the_site_alone() -> None:
    assert shown_actor("user root", to_tenant_id=None) == "user root"
    assert shown_actor("user root", to_tenant_id=1) == SITE_ADMINISTRATOR


@cases(
    ("reason", "of_its_tenant", "of_others"),
    [
        (
            "user r of tenant 1 changed its description",
            "user r changed its description",
            "site administrator changed its description",
        ),
        (
            "user r of tenant 1 removed its description",
            "user r removed its description",
            "site administrator removed its description",
        ),
        (
            "the owner (kim) changed the price of flavour f",
            "the owner changed the price of flavour f",
            "the owner changed the price of flavour f",
        ),
        ("3 jobs wait", "3 jobs wait", "3 jobs wait"),
    ],
)
def test_reason_for_a_change_of_a_pool(reason: str, of_its_tenant: str, of_others: str) -> None:
    assert shown_reason(reason, to_tenant_id=1) == of_its_tenant
    assert shown_reason(reason, to_tenant_id=2) == of_others
    assert shown_reason("the owner (kim) x", to_tenant_id=None) == "the owner (kim) x"


@cases(
    ("cookies", "scheme", "found"),
    [
        ("a=b; weft_session=s", "http", "s"),
        ("__Host-weft_session=s", "https", "s"),
        # A page without TLS, or of a neighbouring host, can set the first one only.
        ("weft_session=s", "https", None),
        ("__Host-weft_session=s", "http", None),
        ("weft_session=s; weft_session=t", "http", None),
        ("weft_session=", "http", None),
        ("xweft_session=s", "http", None),
        ("", "http", None),
    ],
)
def test_session_is_in_the_cookie_of_its_name(
    cookies: str, scheme: str, found: str | None
) -> None:
    assert session_in(cookies, scheme) == found


@cases(
    ("origin", "host", "is_same"),
    [
        ("https://weft.example", "weft.example", True),
        ("https://WEFT.example", "weft.example:443", True),
        ("https://weft.example:8443", "weft.example:8443", True),
        ("http://weft.example", "weft.example", False),
        ("https://weft.example:8443", "weft.example", False),
        ("https://weft.example.evil.example", "weft.example", False),
        ("https://evil.example", "weft.example", False),
        ("null", "weft.example", False),
        ("", "", False),
        (None, "weft.example", False),
        ("https://weft.example", None, False),
    ],
)
def test_same_origin_is_scheme_host_and_port(
    origin: str | None, host: str | None, *, is_same: bool
) -> None:
    assert is_same_origin(origin, "https", host) is is_same


def test_cookie_stays_with_browser_and_origin() -> None:
    assert cookie_of("s", "https", 60.5) == (
        "__Host-weft_session=s; Path=/; Max-Age=60; HttpOnly; SameSite=Lax; Secure"
    )
    assert "Secure" not in cookie_of("s", "http", 60)
    assert csrf_token_of("s") != csrf_token_of("t")


@cases(
    "name",
    [
        "GITHUB_TOKEN",
        "AWS_SECRET_ACCESS_KEY",
        "AWS_ACCESS_KEY_ID",
        "PGPASSWORD",
        "api_key",
        "SSH_PASSPHRASE",
        "GOOGLE_CREDENTIALS",
        "DB_PASS",
        "OPENAI_API_KEY",
        "SESSION_COOKIE",
    ],
)
def test_names_of_secrets_are_masked(name: str) -> None:
    patterns = patterns_of(Settings().masked_env)

    assert masked({name: "hunter2"}, patterns) == {name: MASK}


@cases("name", ["PATH", "HOME", "KEYBOARD", "MONKEY", "PWD", "OLDPWD", "LANG"])
def test_other_names_are_not(name: str) -> None:
    patterns = patterns_of(Settings().masked_env)

    assert masked({name: "/x"}, patterns) == {name: "/x"}


def test_a_url_loses_its_password_whatever_the_name() -> None:
    shown = masked({"DATABASE_URL": "postgres://ada:hunter2@db:5432/x", "A": "http://h/a:b@c"}, ())

    assert shown == {"DATABASE_URL": f"postgres://ada:{MASK}@db:5432/x", "A": "http://h/a:b@c"}
    assert is_masked(shown["DATABASE_URL"])


def test_empty_values_stay_empty() -> None:
    assert masked({"MY_TOKEN": ""}, ("*TOKEN*",)) == {"MY_TOKEN": ""}


def test_patterns_may_have_spaces_and_gaps() -> None:
    assert patterns_of(" A* ,, b? ") == ("A*", "b?")
    assert masked({"a1": "x", "B2": "x", "c": "x"}, patterns_of("A*,b?"))["c"] == "x"


OURS = parse_networks("10.0.0.0/8, 127.0.0.1\n::1")


@cases(
    ("peer", "headers", "origin"),
    [
        ("10.0.0.1", ["192.0.2.7"], "192.0.2.7"),
        ("192.0.2.1", ["192.0.2.7"], "192.0.2.1"),  # no proxy of ours
        ("10.0.0.1", [], "10.0.0.1"),
        # What the sender put in front of what the proxy appended.
        ("10.0.0.1", ["127.0.0.1, 192.0.2.7"], "192.0.2.7"),
        ("10.0.0.1", ["127.0.0.1", "192.0.2.7"], "192.0.2.7"),
        ("10.0.0.1", ["192.0.2.7, 10.0.0.2"], "192.0.2.7"),  # two proxies of ours
        ("10.0.0.1", ["192.0.2.7, 198.51.100.1"], "198.51.100.1"),
        ("10.0.0.1", ["192.0.2.7, unknown"], "10.0.0.1"),
        ("10.0.0.1", ["192.0.2.7:4711"], "192.0.2.7"),
        ("10.0.0.1", ["[2001:db8::1]:4711"], "2001:db8::1"),
        ("::ffff:10.0.0.1", ["2001:db8::1"], "2001:db8::1"),
        ("10.0.0.1", ["10.0.0.2"], "10.0.0.2"),
        ("10.0.0.1", [""], "10.0.0.1"),
    ],
)
def test_origin_is_the_last_address_that_is_no_trusted_proxy(
    peer: str, headers: list[str], origin: str
) -> None:
    assert origin_of(peer, headers, OURS) == origin


def test_scheme_and_host_are_what_the_nearest_proxy_says() -> None:
    assert scheme_of(["http", "ftp, HTTPS"]) == "https"
    assert host_of(["evil.example", "evil.example, weft.example:8443"]) == "weft.example:8443"
    assert host_of(["[::1]:80"]) == "[::1]:80"
    for wrong in ("", "a b", "x/y", "user@host", "host:port", "<script>"):
        assert host_of([wrong]) is None
        assert scheme_of([wrong]) is None


@cases("wrong", ["10.0.0.0/33", "proxy.example", "10.0.0.1/8", "10.0.0.0/8;::1"])
def test_what_is_no_network_is_named(wrong: str) -> None:
    with pytest.raises(ValueError, match="is not a network"):
        parse_networks(wrong)
    assert not is_trusted("10.0.0.1", parse_networks(""))
