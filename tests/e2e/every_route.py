"""Reads all that the api tells: every route of its own table that changes nothing."""

import json
import re
import threading
from collections.abc import Collection, Mapping
from pathlib import Path

import httpx

from weft.api.app import route_rights

STREAM = "text/event-stream"
QUERIES = {"GET /v1/batch-actions": "?action=cancel"}
"""What a route cannot do without."""


class EveryRoute:
    """Asks for everything, and keeps what it is told. Streams go on until the server ends them."""

    def __init__(self, home: Path, ids: Mapping[str, object]) -> None:
        """`ids`: the value of each parameter of paths; those with several meanings by the path
        before it.
        """
        client = json.loads((home / "client.json").read_text())
        self._ids = ids
        self._http = httpx.Client(
            base_url=client["url"], headers={"authorization": f"Bearer {client['token']}"},
            timeout=httpx.Timeout(60, read=None),
        )  # fmt: skip
        self.told: dict[str, list[bytes]] = {}
        """By route, and what it was asked for."""
        self.statuses: dict[str, set[int]] = {}
        self._reading: dict[str, threading.Thread] = {}

    def ask(self) -> None:
        """Ask each route; streams that are open are left alone."""
        for name in route_rights():
            method, _, route = name.partition(" ")
            if method == "GET" and name not in self._reading:
                path = re.sub(r"([\w-]*)/\{(\w+)\}", self._value, route)
                self._ask(name, path + QUERIES.get(name, ""))
        log = f"/v1/batches/{self._ids['b']}/jobs/{self._ids['j']}/log?follow=true"
        if log not in self._reading:
            self._ask(log, log)

    @property
    def streams(self) -> Collection[str]:
        """Return what was answered with a stream."""
        return self._reading.keys()

    def finish(self) -> None:
        """Wait until the server has ended all streams."""
        for one in self._reading.values():
            one.join(60)
            assert not one.is_alive()
        self._http.close()

    def _value(self, match: re.Match[str]) -> str:
        before, name = match.groups()
        whole = f"{before}/{{{name}}}"
        return f"{before}/{self._ids[whole if whole in self._ids else name]}"

    def _ask(self, name: str, path: str) -> None:
        answer = self._http.send(self._http.build_request("GET", path), stream=True)
        told = self.told.setdefault(name, [])
        self.statuses.setdefault(name, set()).add(answer.status_code)
        told.append(str(answer.headers).encode())
        if not answer.headers.get("content-type", "").startswith(STREAM):
            told.append(answer.read())
            return

        def read() -> None:
            try:
                told.extend(answer.iter_bytes())
            except httpx.RemoteProtocolError as error:
                told.append(str(error).encode())

        self._reading[name] = threading.Thread(target=read, daemon=True)
        self._reading[name].start()
