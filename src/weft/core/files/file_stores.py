"""Addresses of stores of objects: which may be set, and what is below them."""

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple
from urllib.parse import unquote

from weft.core.addresses import AllowedHosts
from weft.core.deliveries.callback_url import parse_callback_url, wrong_address
from weft.core.files.file_paths import STORE_SCHEME, WrongPath, parts_of

_URL: Final = re.compile(r"s3://([A-Za-z0-9][A-Za-z0-9._-]{1,61}[A-Za-z0-9])(?:/(.*))?", re.DOTALL)
_WEFT: Final = "weft://"
_SOURCES: Final = ("file", "http", "https", "store", "weft")
_SHOWN_MAX: Final = 20
_REGION: Final = re.compile(r"[a-z0-9-]{1,64}")


class Bucket(NamedTuple):
    """A bucket, and the beginning of all keys in it."""

    name: str
    prefix: str
    """Empty, or with a slash at its end."""


def parse_bucket(url: str) -> Bucket:
    """Read `s3://BUCKET/PREFIX`. Raise `ValueError` that says what is wrong with it."""
    match = _URL.fullmatch(url)
    if match is None:
        raise ValueError("a store is written s3://BUCKET or s3://BUCKET/PREFIX")
    prefix = (match[2] or "").removesuffix("/")
    try:
        return Bucket(match[1], "/".join(parts_of(prefix)) + "/" if prefix else "")
    except WrongPath as error:
        raise ValueError(f"its prefix: {error}") from error


def wrong_region(region: str) -> str | None:
    """Return why this is no region."""
    return None if _REGION.fullmatch(region) else "a region is written as us-east-1"


def wrong_endpoint(endpoint: str, allowed: AllowedHosts) -> str | None:
    """Return why no store may be there, or None as far as the text tells."""
    try:
        target = parse_callback_url(endpoint)
    except ValueError as error:
        return str(error)
    if target.path != "/":
        return "an endpoint has no path: it is written https://HOST:PORT"
    return wrong_address(target.host, allowed, "store_private_hosts")


def stored_at(url: str, names: Mapping[str, str]) -> str | None:
    """Return what jobs write for an object, in the store that is nearest to it; None: it is in
    none. `names`: of the stores, by their urls.
    """
    for base in sorted(names, key=len, reverse=True):
        if url.startswith(top := f"{base.rstrip('/')}/"):
            return f"{STORE_SCHEME}{names[base]}/{url.removeprefix(top)}"
    return None


def source_at(url: str, stores: Sequence[Mapping[str, Any]]) -> str:
    """Return the address of an input at a url that a client of a door names, as weft writes it.
    Raise `WrongPath` with what there is.
    """
    if url.startswith("/"):
        return f"file://{url.replace('%', '%25')}"
    if "://" in url and url.partition("://")[0].lower() in _SOURCES:
        return url
    return _in_store(url, stores, "file:///PATH, https://…, weft://b1.j1/PATH")


def target_at(url: str, stores: Sequence[Mapping[str, Any]]) -> str:
    """Return where an output is kept, likewise."""
    if url.lower().startswith(_WEFT) and (path := url[len(_WEFT) :].strip("/")):
        return unquote(path)
    if url.lower().startswith(STORE_SCHEME):
        return url
    return _in_store(url, [one for one in stores if one["access"] == "write"], "weft://NAME")


def _in_store(url: str, stores: Sequence[Mapping[str, Any]], others: str) -> str:
    names = {store["url"].rstrip("/"): store["name"] for store in stores}
    if (address := stored_at(url, names)) is not None:
        return address
    known = "".join(f", {base}/…" for base in [*names][:_SHOWN_MAX])
    raise WrongPath(f"nothing here is at {url[:200]!r}; there is {others}{known}")
