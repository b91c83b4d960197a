"""Sinks pass the suite of their port: a program here, an object with what needs no server, and the
sender `http`.
"""

import asyncio
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from callbacks.sink_site import KEYS, ROW, site
from web_server import Answer, Question, web_server
from weft.core.addresses import parse_allowed_hosts
from weft.plugins.callback_senders.http.sender import HttpCallbackSender
from weft.ports.store import StoredFileStore
from weft.run.driver_adapters import LineSinks, SinkCommands
from weft_lines.sinks.s3 import S3Sink
from weft_testing.callback_sender_suite import TIMEOUT_S, CallbackSenderSuite
from weft_testing.sink_suite import SinkSuite


class TestPrograms(SinkSuite):
    kind = "command"

    @pytest.fixture(autouse=True)
    def _at(self, tmp_path: Path) -> None:
        self.got = tmp_path / "got"
        self.got.mkdir()
        self.program = tmp_path / "announce"
        self.program.write_text(
            f'#!/bin/sh\nread -r body\n[ "$1" = to ] && printf %s "$body" '
            f'> {self.got}/$WEFT_DELIVERY.$$ || {{ echo "not to $1" >&2; exit 1; }}\n'
        )
        self.program.chmod(0o700)

    def sink(self) -> SinkCommands:
        return SinkCommands({"announce": str(self.program)})

    def target(self) -> Mapping[str, str]:
        return {}

    def document(self) -> Mapping[str, Any]:
        return {"kind": self.kind, "command": ["announce", "to"], "timeout_s": 30}

    async def arrived(self) -> list[tuple[str | None, bytes]]:
        found: list[tuple[str | None, bytes]] = []
        for one in await asyncio.to_thread(lambda: [*self.got.iterdir()]):
            found.append((one.stem, one.read_bytes()))
            one.unlink()
        return found

    async def test_whatever_is_wrong_is_an_answer(self) -> None:
        for words, why in ((["announce", "x"], "not to x"), (["none"], "sink_commands")):
            answered = await self.sink().send(
                {**self.document(), "command": words}, self.message({})
            )
            assert not answered.delivered
            assert why in str(answered.error)


class TestObjects(SinkSuite):
    """Against a server that keeps what is put."""

    kind = "s3"

    @pytest.fixture(autouse=True)
    def _server(self) -> Iterator[None]:
        self.kept: dict[str, bytes] = {}

        def keep(asked: Question) -> Answer:
            path = asked.path.partition("?")[0]
            if path.startswith("/full/"):
                return Answer(status=503)
            self.kept[path] = asked.body
            return Answer()

        with web_server(keep) as self.url:
            yield

    def stored(self, bucket: str, access: str = "write") -> StoredFileStore:
        body = KEYS.seal("AK:SK", ROW)
        return StoredFileStore(f"s3://{bucket}/pre", self.url, None, access, "secret", ROW, body)

    def sink(self) -> S3Sink:
        stores = {
            "products": self.stored("products"),
            "full": self.stored("full"),
            "readable": self.stored("products", "read"),
        }
        return S3Sink(site(stores=stores))

    def target(self) -> Mapping[str, str]:
        return {"store": "products", "key": "jobs/b1.j7/a.json"}

    def wrong_targets(self) -> Mapping[str, Mapping[str, str]]:
        return {
            "there is no store 'none'": {**self.target(), "store": "none"},
            "nothing is written to store": {**self.target(), "store": "readable"},
            "answers with 503": {**self.target(), "store": "full"},
            "no object has such a name": {**self.target(), "key": "x" * 2000},
        }

    async def arrived(self) -> list[tuple[str | None, bytes]]:
        assert set(self.kept) == {"/products/pre/jobs/b1.j7/a.json"}
        found: list[tuple[str | None, bytes]] = [(None, one) for one in self.kept.values()]
        self.kept.clear()
        return found


async def test_kind_that_nobody_brings_is_an_answer() -> None:
    message = SinkSuite().message({})
    answered = await LineSinks(site(), {}).send({"kind": "pigeon"}, message)
    assert "kind of sink 'pigeon' is not installed" in str(answered.error)


class TestHttpCallbackSender(CallbackSenderSuite):
    def sender(self) -> HttpCallbackSender:
        return HttpCallbackSender(parse_allowed_hosts("127.0.0.1/32"), TIMEOUT_S, TIMEOUT_S)
