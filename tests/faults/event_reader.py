"""A reader of `/v1/events` that is cut off by faults and goes on after the last id it saw."""

import http.client
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from up.weft_up import client_of

_SILENCE_S = 20.0


class EventReader:
    """Reads in a thread of its own until it is told to end."""

    def __init__(self, home: Path) -> None:
        self._home = home
        self._ending = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self.connected = threading.Event()
        self.connections = 0
        self.last_id = ""
        self.events: list[dict[str, Any]] = []

    def _run(self) -> None:
        while not self._ending.is_set():
            try:
                self._read()
            except (OSError, http.client.HTTPException, ValueError):
                self._ending.wait(0.05)

    def _read(self) -> None:
        client = client_of(self._home)
        headers = {"Authorization": f"Bearer {client['token']}"}
        if self.last_id:
            headers["Last-Event-ID"] = self.last_id
        address = client["url"].removeprefix("http://")
        connection = http.client.HTTPConnection(address, timeout=_SILENCE_S)
        try:
            connection.request("GET", "/v1/events", headers=headers)
            answer = connection.getresponse()
            if answer.status == 200:
                self.connections += 1
                self._take(answer)
        finally:
            connection.close()

    def _take(self, answer: http.client.HTTPResponse) -> None:
        """Take whole messages only: one that was cut off comes again."""
        id_, data = "", ""
        while not self._ending.is_set():
            line = answer.readline()
            if not line.endswith(b"\n"):
                return
            name, _, value = line.decode().rstrip("\n").partition(": ")
            if name == "id":
                id_ = value
            elif name == "data":
                data = value
            elif name == "" and not value:
                self.last_id = id_ or self.last_id
                if data:
                    self.events.append(json.loads(data))
                self.connected.set()
                id_, data = "", ""

    @contextmanager
    def reading(self) -> Iterator["EventReader"]:
        """Read from now on."""
        self._thread.start()
        try:
            yield self
        finally:
            self._ending.set()
