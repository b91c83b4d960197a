"""Credentials of sources, look-ups and sinks: `${secret.NAME}`, of who owns them, in `url`,
`query` and `headers`.
"""

import re
from collections.abc import Iterable, Mapping
from typing import Final
from urllib.parse import parse_qsl, urlsplit

from weft.core.access.secret_variables import USUAL, matches, patterns_of
from weft.core.deliveries.callback_url import parse_callback_url, without_login

SECRET: Final = re.compile(r"\$\{secret\.([A-Za-z][\w.-]{0,62})\}")
AUTHORITY: Final = re.compile(r"[^:/?#]+://(?:([^/?#@]*)@)?([^/?#]*)")
"""Login and host of an address."""
_LOGIN: Final = re.compile(rf"(?:[^:$]*:)?{SECRET.pattern}|{SECRET.pattern}:{SECRET.pattern}")
"""One whose credential is a secret; a user may stand before it."""
HEADERS_MAX: Final = 50
_HEADER_CHARS_MAX: Final = 2000
_HEADER: Final = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}")
_CREDENTIALS: Final = (*patterns_of(USUAL), "*AUTHORIZATION", "*SIGNATURE*", "SIG")
"""Names of headers and of fields of a query whose values are secret, with _ for -."""
_OUR_HEADERS: Final = frozenset({"connection", "content-length", "host", "transfer-encoding"})


def wrong_url(given: object) -> str:
    """Say what is wrong with an address, which may have secrets; empty: nothing."""
    url = str(given)
    return wrong_authority(url, only_secrets=True) or wrong_address_in(url, SECRET)


def wrong_address_in(url: str, filled: re.Pattern[str]) -> str:
    """Say what is wrong with an address when `filled` is filled in, but for its login and host."""
    try:
        parse_callback_url(without_login(filled.sub("x", url))[0])
    except ValueError as error:
        return str(error)
    return wrong_credential(parse_qsl(urlsplit(url).query))


def wrong_authority(url: str, *, only_secrets: bool = False) -> str:
    """Say what is wrong with login and host where secrets may stand; empty: nothing.
    `only_secrets`: nothing else is filled into the address.
    """
    if only_secrets and "${" in SECRET.sub("x", url):
        return "only ${secret.NAME} is filled into it"
    match = AUTHORITY.match(url)
    if match is not None and "${" in match[2]:
        return "its host is no secret: addresses are checked"
    login = None if match is None else match[1]
    if login == "":
        return "its login is empty"
    if login is not None and "${" in login and not _LOGIN.fullmatch(login):
        return "write all of the password as one ${secret.NAME}"
    return ""


def wrong_login(url: str) -> str:
    """Say that a login is written out where it should not be; empty: it is not."""
    match = AUTHORITY.match(url)
    if match is None or not match[1] or "${" in match[1]:
        return ""
    return "write its password as ${secret.NAME}, a secret of the owner of the source"


def wrong_credential(given: Iterable[tuple[str, object]]) -> str:
    """Say which header or field of a query is a credential that is written out; empty: none is.
    Whoever sees the setup would see it.
    """
    for name, value in given:
        if matches(name.replace("-", "_"), _CREDENTIALS) and not SECRET.search(str(value)):
            return f"{name} is a credential: write ${{secret.NAME}}, a secret of the owner"
    return ""


def wrong_headers(given: object) -> str:
    """Say what is wrong with headers, which may have secrets; empty: nothing."""
    if not isinstance(given, Mapping) or len(given) > HEADERS_MAX:
        return f"it should be a table of at most {HEADERS_MAX} texts"
    for name, value in given.items():
        if not _HEADER.fullmatch(name) or name.lower() in _OUR_HEADERS:
            return f"{name} is no header that may be given"
        if not isinstance(value, str) or not 1 <= len(value) <= _HEADER_CHARS_MAX:
            return f"{name}: it should be a text of 1 to {_HEADER_CHARS_MAX} characters"
        if not value.isprintable() or not value.isascii():
            return f"{name}: it should be a text of printable characters of ASCII"
        if "${" in SECRET.sub("", value):
            return f"{name}: only ${{secret.NAME}} is filled into it"
    return wrong_credential(given.items())
