"""Requests of browsers: which of them a page of this server has made, and the forms they send."""

from collections.abc import Mapping
from typing import Final
from urllib.parse import parse_qs

from weft.api.http.requests import AnyRequest, read_text
from weft.core.access.sessions import CSRF_HEADER, is_csrf_token, is_same_origin
from weft.core.errors import ForeignRequest, InvalidParameter

FORM: Final = "application/x-www-form-urlencoded"
FORM_FIELDS_MAX: Final = 8
FORM_BYTES_MAX: Final = 256 << 10
"""Its text is taken apart in Python, character by character."""
LOGIN: Final = "/login"
PAGES: Final = "/ui"
"""The path below which all is for people: errors are pages there, and forms bring the token of
their session in a field, which their route reads.
"""
PAGE_POLICY: Final = (
    "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; "
    "connect-src 'self'; base-uri 'none'; frame-ancestors 'none'"
)
"""The Content-Security-Policy of pages, but for where their forms may lead."""


def is_page(path: str) -> bool:
    """Say whether a path is one of the pages."""
    return path == PAGES or path.startswith(f"{PAGES}/")


def refuse_foreign(headers: Mapping[str, str], scheme: str, csrf_token: str) -> None:
    """Raise `ForeignRequest` unless a request comes from a page of this server that knows the
    session's token, and sends it in the header.
    """
    refuse_origin(headers, scheme)
    refuse_wrong_token(csrf_token, headers.get(CSRF_HEADER, ""))


def refuse_wrong_token(csrf_token: str, given: str) -> None:
    """Raise `ForeignRequest` unless this is the session's token."""
    if not is_csrf_token(csrf_token, given):
        raise _foreign(
            f"The header {CSRF_HEADER}, or the field csrf_token of a form, is missing, or is not "
            "the session's."
        )


def refuse_origin(headers: Mapping[str, str], scheme: str) -> None:
    """Raise `ForeignRequest` unless a request comes from a page of this server."""
    if not is_same_origin(headers.get("origin"), scheme, headers.get("host")):
        shown = headers.get("origin", "missing")[:200]
        raise _foreign(f"The header Origin is {shown}, and the request was sent to another one.")


def _foreign(why: str) -> ForeignRequest:
    return ForeignRequest(
        "the request does not come from a page of this server",
        detail=why,
        hint="Programs use a token instead of a session; behind a proxy, name its network in the "
        "setting trusted_proxies.",
    )


async def read_form(request: AnyRequest, fields_max: int = FORM_FIELDS_MAX) -> dict[str, str]:
    """Read the fields of a form; of several with one name the last. Raise `InvalidParameter`."""
    fields = await read_fields(request, fields_max)
    return {name: values[-1] for name, values in fields.items()}


async def read_fields(request: AnyRequest, fields_max: int) -> dict[str, list[str]]:
    """Read the fields of a form that may have several of a name. Raise `InvalidParameter`."""
    text = await read_text(request, FORM_BYTES_MAX)
    try:
        return parse_qs(text, max_num_fields=fields_max, errors="strict")
    except ValueError as error:
        raise InvalidParameter(
            "the form is malformed",
            detail=f"{error}.",
            hint="Open the page in a browser, and press its button.",
        ) from error
