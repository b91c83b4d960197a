"""What a tenant sees of another one is found in lists, below batches, and among events."""

import asyncio
import json
from asyncio import StreamReader, StreamWriter
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any, cast

from cases import cases
from weft_siege.evidence import Evidence
from weft_siege.load import Batch
from weft_siege.privacy import seen_by_others
from weft_siege.tenants import Tenant

ROUTES: dict[str, Any] = {
    path: {"get": {}} for path in ("/v1/batches", "/v1/batches/{b}/jobs/{j}")
}


class Served:
    """An api on which `ours` has batch 1 and `theirs` batch 2."""

    def __init__(self) -> None:
        self.answers = {
            "ours": {"/v1/batches": "ours", "/v1/batches/1/jobs/1": "ours"},
            "theirs": {"/v1/batches": "theirs", "/v1/batches/2/jobs/1": ""},
        }
        self.told: dict[str, list[int]] = {"ours": [1], "theirs": [2]}
        self.listed: dict[str, list[int]] = {"ours": [1], "theirs": [2]}

    async def take(self, reader: StreamReader, writer: StreamWriter) -> None:
        """Answer what a tenant may see."""
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        mark = head.partition("Bearer ")[2].partition("\r")[0]
        path = head.split()[1].partition("?")[0]
        text = json.dumps({"paths": ROUTES}) if "openapi" in path else self.answers[mark].get(path)
        status = "404 Not Found" if text is None else "200 OK"
        writer.write(f"HTTP/1.1 {status}\r\nConnection: close\r\n\r\n{text or ''}".encode())
        await writer.drain()
        writer.close()

    async def seen(self, path: Path) -> list[str]:
        """Return what each sees of the other."""
        async with await asyncio.start_server(self.take, "127.0.0.1", 0) as server:
            port = server.sockets[0].getsockname()[1]
            tenants = [
                self._tenant(mark, number, port, Evidence(path))
                for number, mark in enumerate(self.answers, 1)
            ]
            return await seen_by_others(tenants)

    def _tenant(self, mark: str, number: int, port: int, evidence: Evidence) -> Tenant:
        async def list_batches() -> AsyncIterator[Any]:
            for id_ in self.listed[mark]:
                yield {"id": id_}

        client: Any = type("Client", (), {"list_batches": staticmethod(list_batches)})
        load: Any = type("Load", (), {"batches": [Batch("mixed", number, [], evidence)]})
        events = [{"batch_id": id_} for id_ in self.told[mark]]
        return Tenant(mark, mark, port, [client], load, cast("Any", events))


@cases(
    ("forge", "words"),
    [
        (lambda _: None, []),
        (lambda served: served.told["ours"].append(2), ["ours sees b2 of theirs"]),
        (lambda served: served.listed["theirs"].append(1), ["theirs sees b1 of ours"]),
        (
            lambda served: served.answers["ours"].update({"/v1/batches/2/jobs/1": ""}),
            ["ours sees /v1/batches/2/jobs/1? of theirs"],
        ),
        (
            lambda served: served.answers["ours"].update({"/v1/batches": "ours theirs"}),
            ["ours sees /v1/batches? of theirs"],
        ),
        (lambda served: served.answers.update(theirs={}), ["theirs sees nothing of its own"]),
    ],
)
async def test_what_others_see_is_found(
    forge: Callable[[Served], object], words: list[str], tmp_path: Path
) -> None:
    served = Served()
    forge(served)

    assert await served.seen(tmp_path / "evidence") == words
