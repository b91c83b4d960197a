"""What sources that read from brokers share: a message is an item, its JSON are the fields."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from weft.core.bounded import read_json
from weft.ports.source import ITEM_BYTES_MAX, READING_BYTES_MAX, Item, item_of
from weft.ports.transport import Connection

BYTES_MAX: Final = READING_BYTES_MAX // 4
"""Of the messages of one reading, which are written with more characters when they are kept."""


def connection_of(options: Mapping[str, Any]) -> Connection:
    """Return the connection that the driver has found for the source."""
    given = dict(options["connection"])
    given["tenants"] = tuple(given["tenants"])
    given["ca_file"] = None if given["ca_file"] is None else Path(given["ca_file"])
    return Connection(**given)


def item_of_message(body: bytes, name: str, options: Mapping[str, Any]) -> Item:
    """Return the item of a message; one that cannot be read is called `name`, and says why."""
    if len(body) > ITEM_BYTES_MAX:
        return Item(name, None, f"the message has more than {ITEM_BYTES_MAX >> 10} KiB")
    try:
        found = read_json(body)
    except ValueError as error:
        return Item(name, None, f"the message is not JSON: {error}")
    item = item_of(found, options)
    return item if item.fields is not None else Item(name, None, item.error)
