"""Addresses of stores of objects: which may be set, and what is below them."""

import re
from typing import Final, NamedTuple

from weft.core.addresses import AllowedHosts
from weft.core.deliveries.callback_url import parse_callback_url, wrong_address
from weft.core.files.file_paths import WrongPath, parts_of

_URL: Final = re.compile(r"s3://([A-Za-z0-9][A-Za-z0-9._-]{1,61}[A-Za-z0-9])(?:/(.*))?", re.DOTALL)
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
