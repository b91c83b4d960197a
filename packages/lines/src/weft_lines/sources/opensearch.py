"""The source `opensearch`: a catalogue of scenes that answers with GeoJSON, as RESTO does.

It is read as `http` is. A feature is an item: its id is the key, its properties are the fields.
"""

import re
from collections.abc import Mapping
from typing import Any, Final

from weft_lines.sources import http

KIND: Final = http.KIND
_QUERY: Final = {"sortParam": "published", "sortOrder": "ascending", "maxRecords": 200}
_SINCE: Final = "publishedAfter"
_TILE: Final = re.compile(r"_T(\d{2}[A-Z]{3})(?:_|$)")


class OpenSearchSource(http.HttpSource):
    """Asks for pages of features, the oldest first."""

    def usual(self, options: http.Options) -> http.Options:
        """Return the options with what such catalogues are asked."""
        found = {"items": "features", **options, "query": {**_QUERY, **options.get("query", {})}}
        if (cursor := options.get("cursor")) is not None:
            found["cursor"] = {"parameter": _SINCE, **cursor}
        return found

    def fields(self, given: object) -> object:
        """Return the fields of a feature, some of them also under short names."""
        properties = given.get("properties") if isinstance(given, Mapping) else None
        if not isinstance(given, Mapping) or not isinstance(properties, Mapping):
            return given
        title = str(properties.get("title") or "").removesuffix(".SAFE")
        path = str(properties.get("productIdentifier") or "").removeprefix("/eodata/")
        tile = _TILE.search(title)
        short = {
            "product_id": title,
            "path": path.removeprefix("/"),
            "measured": properties.get("startDate"),
            "tile": tile[1] if tile else None,
            "key": given.get("id"),
            "geometry": given.get("geometry"),
        }
        return {**{name: one for name, one in short.items() if one}, **properties}

    def following(self, answer: Mapping[str, Any]) -> object:
        """Return the link to the next page."""
        properties = answer.get("properties")
        for holder in (properties, answer):
            links = holder.get("links") if isinstance(holder, Mapping) else None
            for one in links if isinstance(links, list) else ():
                if isinstance(one, Mapping) and one.get("rel") == "next" and one.get("href"):
                    return one["href"]
        return None
