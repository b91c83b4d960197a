"""The look-up `http`: an address that answers with a JSON object, asked as sources are."""

import re
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any, Final

from weft.core.deliveries.callback_url import without_login
from weft.core.deliveries.credentials import (
    AUTHORITY,
    wrong_address_in,
    wrong_authority,
    wrong_credential,
    wrong_headers,
    wrong_login,
)
from weft.core.text.filling import FIELD
from weft.ports.line_kinds import CHARS_MAX, LookUpKind, Mistakes
from weft.ports.lookup import ANSWER_BYTES_MAX, LookUpAway
from weft.ports.source import SourceFailed, SourceSite
from weft_lines.sources.http import address_of, asked

_UNKNOWN: Final = (HTTPStatus.NOT_FOUND, HTTPStatus.GONE)
_VERBATIM: Final = re.compile(r"\$\{param\.")
_NO_TABLE: Final = "it should be a table of texts and numbers"
_LATER: Final = (HTTPStatus.REQUEST_TIMEOUT, HTTPStatus.TOO_MANY_REQUESTS)


def _check(options: Mapping[str, Any], told: bool) -> Mistakes:  # noqa: FBT001 (as all kinds)
    query, headers = options.get("query", {}), options.get("headers", {})
    is_table = isinstance(query, Mapping)
    return {
        "url": _wrong_url(options.get("url"), told=told),
        "query": wrong_credential(query.items()) if is_table else _NO_TABLE,
        "headers": wrong_headers(headers),
    }


def _wrong_url(given: object, *, told: bool) -> str:
    """Say what is wrong with an address. `told`: it is told a secret."""
    if not isinstance(given, str) or not 1 <= len(given) <= CHARS_MAX:
        return f"a look-up by http needs an address of at most {CHARS_MAX} characters"
    match = AUTHORITY.match(given)
    if told and (match is None or "${" in match[2]):
        return "it is told a secret: write out its host"
    if _VERBATIM.match(given):
        return ""
    login = None if match is None else match[1]
    wrong = wrong_authority(given) if login is not None else ""
    return wrong or wrong_login(given) or wrong_address_in(given, FIELD)


KIND: Final = LookUpKind(("url", "query", "headers"), _check, address="url")


class HttpLookUp:
    """Asks by `GET`; 404 and 410 say that nothing is known."""

    def look_up(self, options: Mapping[str, Any], site: SourceSite) -> object:
        """Ask once."""
        try:
            url, login = without_login(str(options["url"]))
            return asked(
                address_of({**options, "url": url}, None, None),
                site,
                headers={**login, **options.get("headers", {})},
                bytes_max=ANSWER_BYTES_MAX,
            )
        except SourceFailed as error:
            if error.status in _UNKNOWN:
                return None
            is_wrong = error.status is not None and error.status < HTTPStatus.INTERNAL_SERVER_ERROR
            raise LookUpAway(str(error), alone=is_wrong and error.status not in _LATER) from error
