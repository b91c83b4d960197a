"""Items that sources make of documents, all in one way."""

import hashlib
import json
import re
from collections.abc import Mapping
from typing import Any, Final

from weft.core.bounded import Unreadable, check_depth
from weft.ports.source import Item

_FIELD: Final = re.compile(r"\$\{item\.([\w.-]+)\}")


def item_of(given: object, options: Mapping[str, Any]) -> Item:
    """Return an item; its key is what `dedupe` says, or its field `key`."""
    if not isinstance(given, dict):
        return Item(_name_of(given), None, "it is not a JSON object")
    template = str(options.get("dedupe", "${item.key}"))
    missing = [path for path in _FIELD.findall(template) if not _is_word(value_at(given, path))]
    if missing:
        return Item(_name_of(given), None, f"it has no {missing[0]}, which its key needs")
    key = _FIELD.sub(lambda match: str(value_at(given, match[1])), template)
    return Item(key, {**given, "key": key} if "key" in given else given)


def _is_word(value: object) -> bool:
    return isinstance(value, str | int) and not isinstance(value, bool) and value != ""


def _name_of(given: object) -> str:
    try:
        check_depth(given)
    except Unreadable:
        return "without key, nested too deep"
    text = json.dumps(given, sort_keys=True).encode()
    return f"without key {hashlib.sha256(text).hexdigest()[:12]}"


def value_at(value: object, path: str) -> object:
    """Return what stands in a document at names with dots between; None: nothing."""
    for part in path.split("."):
        value = value.get(part) if isinstance(value, dict) else None
    return value
