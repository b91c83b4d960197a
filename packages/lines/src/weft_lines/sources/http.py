"""The source `http`: an address that answers with a JSON object that has a list of items.

One reading is one page. `next` of the answer leads to the next one: a link to the same host, or a
text that is sent as `cursor`. Without it the next reading begins again: from the newest known date
on, if the source has a `cursor`, which the server is told in its query. Items that come again are
the same, so nothing is lost where pages overlap. Redirections are not followed, proxies not used.
"""

import asyncio
import json
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from types import MappingProxyType
from typing import Any, Final
from urllib.parse import urlencode, urljoin

from weft.core.bounded import PAGE_DEPTH_MAX, read_json
from weft.core.deliveries.callback_url import CallbackTarget, parse_callback_url, without_login
from weft.core.deliveries.credentials import wrong_credential, wrong_headers, wrong_url
from weft.core.text.durations import duration_of, earlier
from weft.net.exchange import AnswerHead
from weft.net.failures import NetFailure, TooLong, WrongRequest
from weft.net.foreign_http import ForeignHttp
from weft.ports.line_kinds import (
    TEXT,
    Option,
    SourceKind,
    host_of,
    wrong_host,
    wrong_text,
    wrong_time,
)
from weft.ports.source import (
    INTEGER_MAX,
    READING_BYTES_MAX,
    Reading,
    SourceFailed,
    SourceSite,
    item_of,
    value_at,
)

PAGES_MAX: Final = 10_000
"""In a row; then it waits as between readings."""
EMPTY_PAGES_MAX: Final = 100
"""In a row, of a catalogue that looks for matches page by page; then it begins again."""
RETRY_AFTER_S: Final = 60.0
"""When a server that is asked too often does not say how long to wait."""
RETRY_AFTER_MAX_S: Final = 86_400.0
OVERLAP: Final = "1h"
_FIELDS_MAX: Final = 50
_OVERLAP_MOST: Final = 10**15
_OK: Final = 200
_BUSY: Final = (429, 503)
_NEXT: Final = ("next", "next_cursor", "cursor")
_LEFT: Final = re.compile(r"\$\{param\.(\w+)\}")
Options = Mapping[str, Any]
_USUAL: Final = {"Accept": "application/json", "Accept-Encoding": "identity", "User-Agent": "weft"}
_OWN: Final = ("Host", "Connection")


def _is_query(given: object) -> str:
    if (
        isinstance(given, Mapping)
        and len(given) <= _FIELDS_MAX
        and all(isinstance(one, str | int | float) for one in given.values())
    ):
        return wrong_credential(given.items())
    return f"it should be a table of at most {_FIELDS_MAX} texts and numbers"


def _is_overlap(given: object) -> str:
    if isinstance(given, str):
        return wrong_time(given)
    fine = type(given) is int and 0 <= given <= _OVERLAP_MOST
    said = f'a time such as "1h", or of numbers one from 0 to {_OVERLAP_MOST}'
    return "" if fine else f"it should be {said}"


def wrong_cursor(given: object) -> str:
    """Say what is wrong with what a reading begins with; empty: nothing."""
    if not isinstance(given, Mapping) or "field" not in given:
        return 'it should be a table such as {field = "published", first = "7d"}'
    for name, value in given.items():
        if name not in {"field", "parameter", "first", "overlap"}:
            return f"it has no {name}, but field, parameter, first, overlap"
        if what := _is_overlap(value) if name == "overlap" else wrong_text(value):
            return f"{name}: {what}"
    return ""


KIND: Final = SourceKind(
    {
        "url": Option(wrong_url, needed=True, secret=True),
        "query": Option(_is_query, secret=True),
        "headers": Option(wrong_headers, secret=True),
        "items": TEXT,
        "dedupe": TEXT,
        "cursor": Option(wrong_cursor),
    },
    reach=lambda site, options: wrong_host(host_of(str(options["url"])), site),
)


class HttpSource:
    """Asks for pages; all that it knows is in the cursor."""

    def read(
        self, options: Options, cursor: Mapping[str, Any] | None, site: SourceSite
    ) -> Reading:
        """Read one page."""
        if left := _LEFT.search(json.dumps(options)):
            raise SourceFailed(f"there is no parameter {left[1]} yet")
        plain, login = without_login(str(options["url"]))
        options = self.usual({**options, "url": plain})
        state = {**(cursor or {})}
        page, newest = state.get("page"), state.get("newest")
        since = state.get("since") if page is not None else since_of(options, newest)
        url = address_of(options, since, page)
        answer = asked(url, site, headers={**login, **options.get("headers", {})})
        found = value_at(answer, str(options.get("items", "items")))
        if not isinstance(found, list):
            raise SourceFailed(f"the answer has no list {options.get('items', 'items')!r}")
        found = [self.fields(one) for one in found]
        items = [item_of(one, options) for one in _sorted(found, options)]
        newest = newest_of([newest, *_dates(found, options)])
        following = self.following(answer)
        pages = state.get("pages", 0) + 1
        empty = 0 if items else state.get("empty", 0) + 1
        by_date = options.get("cursor") is not None
        more = following not in (None, page) and (
            bool(items) or (by_date and empty < EMPTY_PAGES_MAX)
        )
        if not more and (by_date or items):
            following = None  # else there is nothing yet, and it is asked for again
        told = {
            "page": following,
            "since": since,
            "newest": newest,
            "pages": pages if more else 0,
            "empty": empty if more else 0,
        }
        return Reading(items, told, more=more and pages < PAGES_MAX)

    def usual(self, options: Options) -> Options:
        """Return the options with what is asked if they say nothing of it."""
        return options

    def fields(self, given: object) -> object:
        """Return what is an item of an element of the list."""
        return given

    def following(self, answer: Mapping[str, Any]) -> object:
        """Return what leads to the next page."""
        return next((answer[name] for name in _NEXT if answer.get(name)), None)


def since_of(options: Options, newest: object) -> object:
    """Return from where on the server is asked."""
    spec = options.get("cursor")
    if spec is None:
        return None
    if newest is None:
        first = spec.get("first")
        length = duration_of(first)
        return first if length is None else _written(earlier(datetime.now(UTC), length))
    at = _date(newest)
    check_overlap(spec, is_date=at is not None)
    if at is None:
        return newest - spec.get("overlap", 0) if isinstance(newest, int) else newest
    overlap = duration_of(spec.get("overlap", OVERLAP))
    return newest if overlap is None else _written(earlier(at, overlap))


def check_overlap(spec: Options, *, is_date: bool) -> None:
    """Raise `SourceFailed` if dates should be reached back by a number, or numbers by a time."""
    if "overlap" in spec and isinstance(spec["overlap"], str) is not is_date:
        what = 'a date: write a time such as "1h"' if is_date else "a number: write one, such as 9"
        raise SourceFailed(f"cursor: overlap: {spec['field']} is {what}")


def address_of(options: Options, since: object, page: object) -> str:
    """Return what is asked, with `query` of the options."""
    url = str(options["url"])
    if isinstance(page, str) and re.match(r"https?://|/|\?", page):
        url = urljoin(url, page)
        if not _same_host(url, str(options["url"])):
            raise SourceFailed("the next page is at another host")
        return url
    query: dict[str, object] = {**options.get("query", {})}
    if since is not None:
        query[str(options["cursor"].get("parameter", "since"))] = since
    if page is not None:
        query["cursor"] = page
    if not query:
        return url
    pairs = {
        name: json.dumps(value) if isinstance(value, bool) else value
        for name, value in query.items()
    }
    return f"{url}{'&' if '?' in url else '?'}{urlencode(pairs)}"


def _same_host(one: str, other: str) -> bool:
    first, second = _target(one), _target(other)
    return (first.scheme, first.authority) == (second.scheme, second.authority)


def _target(url: str) -> CallbackTarget:
    try:
        return parse_callback_url(url)
    except ValueError as error:
        raise SourceFailed(f"the address: {error}") from error


def asked(
    url: str,
    site: SourceSite,
    *,
    headers: Mapping[str, str] = MappingProxyType({}),
    bytes_max: int = READING_BYTES_MAX,
) -> dict[str, Any]:
    """Return the JSON object at an address. Raise `SourceFailed`."""
    body, shown = fetched(url, site, headers=headers, bytes_max=bytes_max), _target(url).authority
    try:
        found = read_json(body, depth_max=PAGE_DEPTH_MAX)
    except ValueError as error:
        raise SourceFailed(f"{shown}: the answer is not JSON: {error}") from error
    if not isinstance(found, dict):
        raise SourceFailed(f"{shown}: the answer is not a JSON object")
    return found


def fetched(
    url: str,
    site: SourceSite,
    *,
    headers: Mapping[str, str] = MappingProxyType({}),
    bytes_max: int = READING_BYTES_MAX,
) -> bytes:
    """Return what an address answers with. Raise `SourceFailed`."""
    target = _target(url)
    shown = target.authority
    named = {name.title(): value for name, value in headers.items()}
    fields = {name: text for name, text in {**_USUAL, **named}.items() if name not in _OWN}
    try:
        return asyncio.run(_fetched(target, site, fields, bytes_max))
    except TooLong as failure:
        raise SourceFailed(f"{shown}: the answer has more than {_size(bytes_max)}") from failure
    except WrongRequest:  # whose text may have a secret
        raise SourceFailed("a value of headers has what no header may have") from None
    except NetFailure as failure:
        raise SourceFailed(failure.told(target.host, shown, site.setting)) from failure


async def _fetched(
    target: CallbackTarget, site: SourceSite, fields: Mapping[str, str], bytes_max: int
) -> bytes:
    http = ForeignHttp(site.allowed, site.timeout_s, site.timeout_s)
    async with http.asked("GET", target, fields.items()) as exchange:
        _refuse(await exchange.head(), target.authority)
        return await exchange.body(bytes_max)


def _size(n: int) -> str:
    return f"{n >> 20} MiB" if n >> 20 else f"{n >> 10} KiB"


def _refuse(head: AnswerHead, shown: str) -> None:
    if head.status == _OK:
        return
    wait_s = _retry_after(head.get("retry-after"))
    if wait_s is None and head.status == _BUSY[0]:
        wait_s = RETRY_AFTER_S
    raise SourceFailed(
        f"{shown} answers with {head.status}",
        retry_after_s=wait_s if head.status in _BUSY else None,
        status=head.status,
    )


def _retry_after(text: str) -> float | None:
    with suppress(ValueError, TypeError):
        if text.strip().isdecimal():
            return min(float(text), RETRY_AFTER_MAX_S)
        left = parsedate_to_datetime(text) - datetime.now(UTC)
        return min(max(left.total_seconds(), 0.0), RETRY_AFTER_MAX_S)
    return None


async def good_address(host: str, port: int, site: SourceSite) -> str:
    """Return an address of a host that the site allows. Raise `SourceFailed`."""
    try:
        found = await ForeignHttp(site.allowed, site.timeout_s).addresses(host, port)
    except NetFailure as failure:
        raise SourceFailed(failure.told(host, host, site.setting)) from failure
    return str(found[0])


def _dates(found: Sequence[object], options: Options) -> list[object]:
    spec = options.get("cursor")
    return [] if spec is None else [value_at(one, str(spec["field"])) for one in found]


def _sorted(found: list[Any], options: Options) -> list[Any]:
    """Return the oldest first, if all have dates."""
    dates = [_order(date) for date in _dates(found, options)]
    if not dates or None in dates or len({type(date) for date in dates}) > 1:
        return found
    order = sorted(range(len(found)), key=lambda n: (dates[n], n))
    return [found[n] for n in order]


def newest_of(given: Sequence[object]) -> object:
    """Return the newest date or number; a date of the future would hide what is yet to come."""
    best: object = None
    for one in given:
        order = _order(one)
        known = _order(best)
        if order is None or (isinstance(order, datetime) and order > datetime.now(UTC)):
            continue
        if known is None or (type(known) is type(order) and order > known):  # type: ignore[operator]
            best = one
    return best


def _order(value: object) -> datetime | int | None:
    if isinstance(value, int) and not isinstance(value, bool):
        return value if abs(value) < INTEGER_MAX else None  # its item is refused
    return _date(value)


def _date(value: object) -> datetime | None:
    if not isinstance(value, str):
        return None
    with suppress(ValueError, OverflowError):
        found = datetime.fromisoformat(value)
        return found.astimezone(UTC) if found.tzinfo else found.replace(tzinfo=UTC)
    return None


def _written(at: datetime) -> str:
    return at.isoformat(timespec="seconds").replace("+00:00", "Z")
