"""What may be called back: the public internet, and what a deployment allows. Nothing else."""

from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cases import cases
from weft.core.addresses import AllowedHosts, is_public, parse_allowed_hosts
from weft.core.deliveries.callback_url import parse_callback_url, wrong_callback

NOBODY = AllowedHosts()
NAT64 = IPv6Network("64:ff9b::/96")

NOT_PUBLIC = [
    "0.0.0.0",  # noqa: S104
    "0.1.2.3",
    "10.0.0.1",
    "10.255.255.255",
    "100.64.0.1",
    "100.100.100.200",
    "127.0.0.1",
    "127.255.255.254",
    "168.63.129.16",
    "169.254.169.254",
    "169.254.170.2",
    "172.16.0.1",
    "172.31.255.255",
    "192.0.0.192",
    "192.0.2.1",
    "192.168.1.1",
    "198.18.0.1",
    "198.51.100.1",
    "203.0.113.1",
    "224.0.0.1",
    "239.1.1.1",
    "240.0.0.1",
    "255.255.255.255",
    "::",
    "::1",
    "::7f00:1",
    "::ffff:127.0.0.1",
    "::ffff:10.0.0.1",
    "::ffff:169.254.169.254",
    "64:ff9b::127.0.0.1",
    "64:ff9b::a9fe:a9fe",
    "64:ff9b:1::1.1.1.1",
    "100::1",
    "2001::1",
    "2001:db8::1",
    "2002:7f00:1::",
    "2002:a00:1::1",
    "3fff::1",
    "fc00::1",
    "fd00:ec2::254",
    "fe80::1",
    "fec0::1",
    "ff02::1",
    "5f00::1",
]
PUBLIC = [
    "1.1.1.1",
    "8.8.8.8",
    "100.63.255.255",
    "100.128.0.0",
    "172.15.255.255",
    "172.32.0.0",
    "192.169.0.0",
    "223.255.255.255",
    "2606:4700:4700::1111",
    "2a00:1450:4001:830::200e",
    "::ffff:8.8.8.8",
    "64:ff9b::8.8.8.8",
]


@cases("text", NOT_PUBLIC)
def test_private_addresses_are_not_public(text: str) -> None:
    address = ip_address(text)
    host = f"[{text}]" if ":" in text else text

    assert not is_public(address)
    assert not NOBODY.allow("hook.example", address)
    assert wrong_callback(f"http://{host}/x", NOBODY) is not None
    assert wrong_callback(f"https://{host}:8443/x", NOBODY) is not None


@cases("text", PUBLIC)
def test_public_addresses_are_public(text: str) -> None:
    host = f"[{text}]" if ":" in text else text

    assert is_public(ip_address(text))
    assert wrong_callback(f"http://{host}:80/x", NOBODY) is None


@given(st.ip_addresses(v=4))
def test_what_python_knows_to_be_private_is_not_public_here(address: IPv4Address) -> None:
    if not address.is_global or address.is_multicast or address.is_reserved:
        assert not is_public(address)


@given(st.ip_addresses(v=6))
def test_what_python_knows_of_ipv6_to_be_private_is_not_public_here(address: IPv6Address) -> None:
    if address not in NAT64 and (not address.is_global or address.is_multicast):
        assert not is_public(address) or address.ipv4_mapped


@given(st.ip_addresses(v=4), st.sampled_from(["::ffff:0:0", "64:ff9b::"]))
def test_address_that_carries_another_is_judged_by_that(inner: IPv4Address, prefix: str) -> None:
    outer = IPv6Address(int(IPv6Address(prefix)) | int(inner))

    assert is_public(outer) == is_public(inner)


REFUSED = [
    # schemes
    "",
    "x",
    "//hook.example/x",
    "ftp://hook.example/x",
    "file:///etc/passwd",
    "gopher://h/_x",
    "javascript:alert(1)",
    "data:text/plain,x",
    "unix:///run/x.sock",
    "http:/hook.example",
    "http:hook.example",
    "https:///x",
    "http://",
    "http://?x",
    "http://#x",
    "ws://hook.example",
    # logins and confusing separators
    "http://user@hook.example/",
    "http://user:pw@hook.example/",
    "http://@hook.example/",
    "http://hook.example@127.0.0.1/",
    "http://127.0.0.1@hook.example/",
    "http://a@b@hook.example/",
    "http://hook.example\\@127.0.0.1/",
    "http://127.0.0.1\\.hook.example/",
    "http://hook.example#@127.0.0.1/",
    "http://hook.example/#fragment",
    # other forms of 127.0.0.1 and friends
    "http://2130706433/",
    "http://0x7f000001/",
    "http://0x7f.0.0.1/",
    "http://0177.0.0.1/",
    "http://017700000001/",
    "http://127.1/",
    "http://127.0.1/",
    "http://0/",
    "http://0x/",
    "http://127.0.0.1./",
    "http://127.0.0.01/",
    "http://127.000.000.001/",
    "http://1.2.3/",
    "http://1.2.3.4.5/",
    "http://1.2.3.256/",
    "http://foo.0x7f/",
    "http://foo.1/",
    "http://2852039166/",
    "http://0xa9fea9fe/",
    "http://[::ffff:7f00:1]/",
    "http://[::1]:80/",
    "http://[fe80::1%25eth0]/",
    "http://[fe80::1%eth0]/",
    "http://[::1/",
    "http://::1/",
    "http://[]/",
    "http://[127.0.0.1]/",
    "http://[::1].hook.example/",
    # characters
    "http://hook.example/ x",
    "http://hook.example/\n",
    "http://hook.example\r\nHost: x/",
    "http://hook.example/\x00",
    "http://hook.example/ü",
    "http://höök.example/",
    "http://①②⑦.⓪.⓪.①/",
    "http://127。0。0。1/",
    "http://hook%2eexample/",
    "http://%31%32%37.0.0.1/",
    "http://hook .example/",
    "http://hook..example/",
    "http://.hook.example/",
    "http://-a.example/",
    "http://a-.example/",
    "http://" + "a" * 64 + ".example/",
    "http://" + "a." * 130 + "example/",
    # ports
    "http://hook.example:0/",
    "http://hook.example:65536/",
    "http://hook.example:-1/",
    "http://hook.example:80a/",
    "http://hook.example:080000000080/",
    "http://hook.example:80:80/",
    # names of this host
    "http://localhost/",
    "http://LOCALHOST./",
    "http://x.localhost:8080/",
    "http://localhost.localdomain/",
    "http://hook.example/" + "x" * 2048,
]


@cases("url", REFUSED)
def test_hostile_url_is_refused(url: str) -> None:
    why = wrong_callback(url, NOBODY)

    assert why is not None
    assert 0 < len(why) < 200


GOOD = {
    "http://hook.example": ("hook.example", 80, "/", "hook.example"),
    "HTTPS://Hook.Example.:443": ("hook.example", 443, "/", "hook.example"),
    "https://hook.example:80/a?b=c&d=%20": ("hook.example", 80, "/a?b=c&d=%20", "hook.example:80"),
    "http://hook_1.a-b.example?x": ("hook_1.a-b.example", 80, "/?x", "hook_1.a-b.example"),
    "http://[2606:4700:4700:0::1111]:8080/": (
        "2606:4700:4700::1111",
        8080,
        "/",
        "[2606:4700:4700::1111]:8080",
    ),
    "http://xn--hk-fkaa.example/@me": ("xn--hk-fkaa.example", 80, "/@me", "xn--hk-fkaa.example"),
}


@cases("url", GOOD)
def test_good_url_is_read_in_one_way(url: str) -> None:
    target = parse_callback_url(url)

    assert wrong_callback(url, NOBODY) is None
    assert (target.host, target.port, target.path, target.authority) == GOOD[url]


@given(st.text(st.characters(codec="utf-8"), max_size=60))
def test_any_text_is_refused_or_read(text: str) -> None:
    for url in (text, f"http://{text}/", f"http://hook.example/{text}", f"http://h:{text}"):
        why = wrong_callback(url, NOBODY)

        assert why is None or why
        if why is None:
            target = parse_callback_url(url)
            assert target.path.isprintable()
            assert " " not in target.path
            assert target.host.isascii()


def test_setting_allows_networks_names_or_everything() -> None:
    allowed = parse_allowed_hosts("10.0.0.0/8, Hooks.Internal fd00::/8\n127.0.0.1 [::1]")
    private = ip_address("192.168.0.1")

    assert wrong_callback("http://10.1.2.3/", allowed) is None
    assert wrong_callback("http://[::ffff:10.1.2.3]/", allowed) is None
    assert wrong_callback("http://[fd00::1]/", allowed) is None
    assert wrong_callback("http://127.0.0.1:99/", allowed) is None
    assert wrong_callback("http://localhost/", allowed) is None
    assert wrong_callback("http://127.0.0.2/", allowed) is not None
    assert wrong_callback("http://169.254.169.254/", allowed) is not None
    assert allowed.allow("hooks.internal", private)
    assert not allowed.allow("other.internal", private)
    assert parse_allowed_hosts("*").allow("x", ip_address("127.0.0.1"))
    assert wrong_callback("http://localhost/", parse_allowed_hosts("*")) is None
    assert wrong_callback("ftp://localhost/", parse_allowed_hosts("*")) is not None
    assert parse_allowed_hosts("") == NOBODY


@cases("text", ["10.0.0.0/33", "10.0.0.1/8", "http://x", "a b/c", "1.2.3", "ä"])
def test_setting_that_names_no_network_and_no_host_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="neither a network nor the name of a host"):
        parse_allowed_hosts(text)
