"""What counts as a session and as a page of the same origin."""

from cases import cases
from weft.core.access.sessions import cookie_of, csrf_token_of, is_same_origin, session_in


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
