"""Which address a request comes from, when proxies say so."""

import pytest

from cases import cases
from weft.core.access.trusted_proxies import (
    host_of,
    is_trusted,
    origin_of,
    parse_networks,
    scheme_of,
)

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
