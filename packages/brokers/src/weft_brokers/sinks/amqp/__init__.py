"""The sink `amqp`: each message goes to an exchange of RabbitMQ."""

import re
from collections.abc import Mapping
from typing import Any, Final

from weft.ports.line_kinds import SinkKind
from weft.ports.sink import SinkReader, Target

_FIELDS: Final = ("transport", "exchange", "routing_key")
_EXCHANGE: Final = ("name", "type", "durable")
_BROKER: Final = re.compile(
    r"(amqps?://)(?:\$\{env\.\w+\}:\$\{env\.\w+\}@)?([^/@$]+)(/[^/@$]*)?(?:/\$\{env\.\w+\})?"
)
"""Scheme, server and virtual host; login and host out of the environment are left out."""


def _usual(document: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a table that names its broker as `transport`, by address, also if it says `url`, with
    a login out of the environment: who has that is an entry of transports_file.
    """
    match = _BROKER.fullmatch(str(document.get("url")))
    if match is None or "transport" in document:
        return document
    return {
        "transport": "".join(group or "" for group in match.groups()),
        **{name: one for name, one in document.items() if name != "url"},
    }


def _target(reader: SinkReader) -> Target:
    """Read the name of an exchange that is written as a table, too; who declares it is not weft,
    so the rest is for readers.
    """
    given = reader.document.get("exchange")
    if isinstance(given, Mapping):
        if unknown := given.keys() - _EXCHANGE:
            reader.wrong("exchange", f"it has no {min(unknown)}, but {', '.join(_EXCHANGE)}")
        reader = SinkReader({**reader.document, "exchange": given.get("name")}, reader.wrong)
    return reader.target(*_FIELDS, usual={"routing_key": ""})


KIND: Final = SinkKind(_FIELDS, _target, usual=_usual, position=4)
