"""Requests to issuers: each with an end, a limit, and no way to anybody else."""

from collections.abc import Mapping
from typing import Final
from urllib.parse import urlencode, urlsplit

from weft.core.deliveries.callback_url import parse_target
from weft.net.failures import Late
from weft.net.foreign_http import ANYWHERE, Answer, ForeignHttp

BYTES_MAX: Final = 1 << 20
FETCH_S: Final = 5.0
OK: Final = 200
FORM: Final = "application/x-www-form-urlencoded"


def is_safe_url(url: str) -> bool:
    """Say whether nobody on the way to an address could answer in its place."""
    try:
        parts = urlsplit(url)
        _ = parts.port
    except ValueError:
        return False
    if "@" in parts.netloc or not (url.isascii() and url.isprintable()) or " " in url:
        return False  # a password, which would be logged, or another line of the request
    if parts.scheme == "http":
        return parts.hostname in {"127.0.0.1", "::1", "localhost"}
    return parts.scheme == "https" and bool(parts.hostname)


async def fetch(url: str, within_s: float = FETCH_S) -> bytes:
    """Return what is at an address: without redirects and proxies, which lead to somebody else.

    Raise `NetFailure`, `ValueError` if it fails, is too slow or too large.
    """
    answer = await _asked(url, "GET", {}, b"", within_s)
    if answer.head.status != OK:
        raise ValueError(f"it answered {answer.head.status}")
    return answer.body


async def post_form(url: str, form: Mapping[str, str], headers: Mapping[str, str]) -> Answer:
    """Send a form, and return what is answered; raise as `fetch`."""
    fields = {**headers, "content-type": FORM}
    return await _asked(url, "POST", fields, urlencode(form).encode(), FETCH_S)


async def _asked(
    url: str, method: str, headers: Mapping[str, str], body: bytes, within_s: float
) -> Answer:
    fields = {"accept": "application/json", "accept-encoding": "identity", **headers}
    http = ForeignHttp(ANYWHERE, within_s, within_s)
    try:
        return await http.answer(
            method, parse_target(url), fields.items(), body, bytes_max=BYTES_MAX
        )
    except Late as failure:
        raise Late(TimeoutError(f"it took longer than {within_s:g} s")) from failure
