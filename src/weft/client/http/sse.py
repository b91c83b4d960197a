"""Server-sent events, as the WHATWG HTML standard (section 9.2.6) says to parse them."""

import re
from typing import NamedTuple

_LINE_END = re.compile(rb"\r\n|\n|\r")


class ServerEvent(NamedTuple):
    """One event: its kind (`message` if it has none), its data and the last id seen."""

    kind: str
    data: str
    last_id: str


class EventParser:
    """Turn a stream of bytes into events, wherever the stream is cut."""

    def __init__(self, last_id: str = "") -> None:
        self.last_id = last_id
        self._rest = b""
        self._kind = ""
        self._data: list[str] = []

    def feed(self, chunk: bytes) -> list[ServerEvent]:
        """Take what was read and return the events that are whole."""
        text = self._rest + chunk
        # A carriage return at the very end may be the first half of a line end.
        held = b"\r" if text.endswith(b"\r") else b""
        *lines, rest = _LINE_END.split(text[: len(text) - len(held)])
        self._rest = rest + held
        events = [self._line(line.decode("utf-8", "replace")) for line in lines]
        return [event for event in events if event is not None]

    def _line(self, line: str) -> ServerEvent | None:
        if not line:
            return self._dispatch()
        name, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if name == "event":
            self._kind = value
        elif name == "data":
            self._data.append(value)
        elif name == "id" and "\0" not in value:
            self.last_id = value
        return None

    def _dispatch(self) -> ServerEvent | None:
        kind, data = self._kind or "message", self._data
        self._kind, self._data = "", []
        return ServerEvent(kind, "\n".join(data), self.last_id) if data else None
