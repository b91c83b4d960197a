"""The source `s3`: each object of a store whose name matches is an item.

One reading is one page of the list, in the order of names; when the last page was read, the next
reading begins again, and passes over what is older than the newest object of the list before.
Whoever starts this process signs the request, so no credential is here.
"""

import re
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from fnmatch import fnmatchcase
from typing import Any, Final
from urllib.parse import unquote_plus
from xml.parsers import expat

from weft.core.text.durations import duration_of, earlier
from weft.ports.line_kinds import NEEDED_TEXT, TEXT, Option, SourceKind, wrong_time
from weft.ports.source import Item, Reading, SourceFailed, SourceSite
from weft_lines.sources.http import fetched

OVERLAP: Final = "1d"
"""Large objects are dated by the beginning of their upload, and appear at its end."""
_FIELDS: Final = frozenset({"Key", "LastModified", "ETag", "Size"})
_SECONDS: Final = re.compile(r"\.\d+")


def _is_flag(given: object) -> str:
    return "" if isinstance(given, bool) else "it should be true or false"


KIND: Final = SourceKind(
    {
        "store": NEEDED_TEXT,
        "prefix": TEXT,
        "pattern": TEXT,
        "versions": Option(_is_flag),
        "overlap": Option(wrong_time),
    }
)


class S3Source:
    """Reads lists of objects; all that it knows is in the cursor."""

    def read(
        self, options: Mapping[str, Any], cursor: Mapping[str, Any] | None, site: SourceSite
    ) -> Reading:
        """Read one page."""
        where = replace(site, allowed=site.stores, setting="store_private_hosts")
        listed, is_cut = _page(fetched(str(options["url"]), where))
        state = {"after": None, "since": None, "newest": None, **(cursor or {})}
        floor = _floor(state["since"], options)
        found = [one for one in listed if floor is None or _date(one) >= floor]
        found.sort(key=lambda one: (_date(one), one["Key"]))
        items = [_item(one, options) for one in found if _matches(one, options)]
        newest = max(
            [
                *([state["newest"]] if state["newest"] else []),
                *(_date(one).isoformat() for one in listed),
            ],
            default=None,
        )
        if is_cut and listed:
            return Reading(
                items, {**state, "after": listed[-1]["Key"], "newest": newest}, more=True
            )
        return Reading(items, {"after": None, "since": newest, "newest": newest})


def _floor(since: str | None, options: Mapping[str, Any]) -> datetime | None:
    overlap = duration_of(options.get("overlap", OVERLAP)) or timedelta()
    return None if since is None else earlier(datetime.fromisoformat(since), overlap)


def _date(one: Mapping[str, str]) -> datetime:
    return datetime.fromisoformat(_SECONDS.sub("", one["LastModified"])).astimezone(UTC)


def _matches(one: Mapping[str, str], options: Mapping[str, Any]) -> bool:
    name = one["Key"]
    prefix = str(options["below"]) + str(options.get("prefix", ""))
    own = name.removeprefix(prefix)
    return not name.endswith("/") and fnmatchcase(own, str(options.get("pattern", "*")))


def _item(one: Mapping[str, str], options: Mapping[str, Any]) -> Item:
    path = one["Key"].removeprefix(str(options["below"]))
    etag = one["ETag"].strip('"')
    fields = {
        "path": path,
        "store": options["store"],
        "bytes": int(one["Size"]),
        "etag": etag,
        "modified": _date(one).isoformat().replace("+00:00", "Z"),
    }
    return Item(f"{path}@{etag}" if options.get("versions") else path, fields)


def _page(body: bytes) -> tuple[list[dict[str, str]], bool]:
    """Return the objects of an answer, and whether it was cut. Raise `SourceFailed`."""
    reader = _Reader()
    try:
        reader.read(body)
        for one in reader.found:
            _date(one)
            int(one["Size"])
            one["Key"] = unquote_plus(one["Key"]) if reader.is_encoded else one["Key"]
    except (expat.ExpatError, KeyError, ValueError, OverflowError) as error:
        raise SourceFailed(f"the answer is no list of objects: {error}") from error
    if not reader.is_list:
        raise SourceFailed("the answer is no list of objects")
    return reader.found, reader.is_cut


class _Reader:
    """Reads a `ListBucketResult`."""

    def __init__(self) -> None:
        self.found: list[dict[str, str]] = []
        self.is_cut = self.is_list = self.is_encoded = False
        self._path: list[str] = []
        self._text = ""

    def read(self, body: bytes) -> None:
        """Read an answer. Raise `ExpatError`, `ValueError`."""
        parser = expat.ParserCreate()
        parser.StartDoctypeDeclHandler = self._refuse
        parser.StartElementHandler = self._begin
        parser.EndElementHandler = self._end
        parser.CharacterDataHandler = self._add
        parser.Parse(body, True)  # noqa: FBT003 (expat's own way to say that this is all)

    def _refuse(self, *_: object) -> None:
        raise ValueError("it declares a type")

    def _begin(self, name: str, _: object) -> None:
        self._path.append(name)
        self._text = ""
        self.is_list = self.is_list or self._path == ["ListBucketResult"]
        if self._path == ["ListBucketResult", "Contents"]:
            self.found.append({})

    def _add(self, text: str) -> None:
        self._text += text

    def _end(self, name: str) -> None:
        if self._path[:-1] == ["ListBucketResult", "Contents"] and name in _FIELDS:
            self.found[-1][name] = self._text
        elif self._path == ["ListBucketResult", "EncodingType"]:
            self.is_encoded = self._text.strip() == "url"
        elif self._path == ["ListBucketResult", "IsTruncated"]:
            self.is_cut = self._text.strip() == "true"
        self._path.pop()
