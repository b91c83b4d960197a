"""The look-up `http`: an address that answers with a JSON object, asked as sources are."""

from collections.abc import Mapping
from http import HTTPStatus
from typing import Any, Final

from weft.core.deliveries.callback_url import without_login
from weft.extensions.lines.sources.http import address_of, asked
from weft.ports.lookup import ANSWER_BYTES_MAX, LookUpAway
from weft.ports.source import SourceFailed, SourceSite

_UNKNOWN: Final = (HTTPStatus.NOT_FOUND, HTTPStatus.GONE)
_LATER: Final = (HTTPStatus.REQUEST_TIMEOUT, HTTPStatus.TOO_MANY_REQUESTS)


class HttpLookUp:
    """Asks by `GET`; 404 and 410 say that nothing is known."""

    def look_up(self, options: Mapping[str, Any], site: SourceSite) -> object:
        """Ask once."""
        try:
            url, login = without_login(str(options["url"]))
            return asked(
                address_of({**options, "url": url}, None, None), site,
                headers={**login, **options.get("headers", {})}, bytes_max=ANSWER_BYTES_MAX,
            )  # fmt: skip
        except SourceFailed as error:
            if error.status in _UNKNOWN:
                return None
            is_wrong = error.status is not None and error.status < HTTPStatus.INTERNAL_SERVER_ERROR
            raise LookUpAway(str(error), alone=is_wrong and error.status not in _LATER) from error
