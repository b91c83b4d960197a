"""Asks all that the api can be asked: every route of its own table."""

import json
import threading
from collections.abc import Collection, Mapping
from pathlib import Path

import httpx

from api.path_values import PathValues
from benches.route_bodies import QUERIES as PARTS
from benches.route_changes import body_for, changes
from weft.api.app import route_rights
from weft.run.doors import api_doors

STREAM = "text/event-stream"
QUERIES = {
    "GET /v1/batch-actions": "?action=cancel",
    "GET /v1/batches/{b}/jobs/{j}/file": "?path=x",
} | {name: f"?{query}" for name, query in PARTS.items()}
"""What a route cannot do without."""
_NO_JOB = "00000000-0000-4000-8000-000000000000"
_OF_DOORS = {
    "job_id": _NO_JOB,
    "aloe_id": f"{_NO_JOB}-007",
    "user": "bob",
    "file_path": "x",
    "pairs": "name/x",
    "task_id": _NO_JOB,
}
"""What routes of doors name; their jobs are none."""


class EveryRoute:
    """Asks for everything, and keeps what it is told. Streams go on until the server ends them."""

    def __init__(self, home: Path, ids: Mapping[str, object]) -> None:
        """`ids`: as those of `PathValues`."""
        client = json.loads((home / "client.json").read_text())
        self._ids = PathValues({**_OF_DOORS, **ids})
        self._http = httpx.Client(
            base_url=client["url"],
            headers={"authorization": f"Bearer {client['token']}"},
            timeout=httpx.Timeout(60, read=None),
        )
        self.told: dict[str, list[bytes]] = {}
        """By route, and what it was asked for."""
        self.statuses: dict[str, set[int]] = {}
        self._reading: dict[str, threading.Thread] = {}

    def ask(self) -> None:
        """Ask each route that changes nothing; streams that are open are left alone."""
        for name in route_rights(api_doors()):
            if name.startswith("GET ") and name not in self._reading:
                self._ask(name, self._path(name))
        log = f"/v1/batches/{self._ids['b']}/jobs/{self._ids['j']}/log?follow=true"
        if log not in self._reading:
            self._ask(log, log)

    def change(self, value: str) -> None:
        """Ask each route that changes something. `value`: what a secret is set to."""
        for name in changes():
            body, kind = body_for(name, int(str(self._ids["b"])), value)
            self._ask(name, self._path(name), name.partition(" ")[0], body, kind)

    def send(self, name: str, bodies: Collection[bytes]) -> None:
        """Send bodies that one route refuses."""
        for one in bodies:
            method = name.partition(" ")[0]
            self._ask(f"{name}, refused", self._path(name), method, one, "application/json")

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

    def _path(self, name: str) -> str:
        return self._ids.fill(name.partition(" ")[2]) + QUERIES.get(name, "")

    def _ask(
        self, name: str, path: str, method: str = "GET", body: bytes = b"", kind: str = ""
    ) -> None:
        headers = {"content-type": kind} if kind else {}
        request = self._http.build_request(method, path, content=body, headers=headers)
        answer = self._http.send(request, stream=True)
        self._http.cookies.clear()  # the token is who asks
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
