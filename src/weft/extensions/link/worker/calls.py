"""One call of the link is one request; the notices are one request that is answered for long."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import aclosing
from typing import Any, Final

import msgspec

from weft.client.http.connection import ConnectionLost
from weft.client.http.session import Finder, HttpSession
from weft.client.http.sse import EventParser
from weft.core.bounded import read_json
from weft.core.errors import Unavailable
from weft.ports.worker_link import FRAME_VERSION, Frame, LinkFacts, call_forms
from weft.telemetry.outage import Outage

PATH: Final = "/v1/worker-link"
REPLY_TIMEOUT_S: Final = 10.0
"""A connection may die without a word. Less than half of the silence after which jobs are given
to others, so that a heartbeat gets through on the next one.
"""
SILENCE_S: Final = 40.0
"""The api says something every 15 s: without that the connection is gone."""
_SIGNS: Final = frozenset({"hello", "heartbeat"})
"""Calls that are repeated until they are answered, at the begin and from then on."""


class LinkCaller:
    """Calls the api for one worker."""

    def __init__(self, finder: Finder, *, reply_timeout_s: float = REPLY_TIMEOUT_S) -> None:
        # The agent repeats by itself what may be repeated, as if the database were away.
        self._session = HttpSession(
            finder, patience_s=0.0, wait_patience_s=0.0, reply_timeout_s=reply_timeout_s
        )
        self._outage = Outage("link.unreachable", "link.reached", url=finder.locate().url)
        self.incarnation_id = 0
        """Since the registration."""
        self.facts: Callable[[float], LinkFacts | None] = lambda _delay_ms: None
        """Says how the worker is, with the delay."""
        self._delay_ms = 0.0

    async def call(self, name: str, /, *args: object, **given: object) -> Any:  # noqa: ANN401 (of the call's type)
        """Call the store; return its result. Raise its errors, and `Unavailable`."""
        return await self._send(name, args, given)

    async def _send(self, name: str, args: Sequence[object], given: Mapping[str, object]) -> Any:  # noqa: ANN401
        form = call_forms()[name]
        arguments = msgspec.Raw(form.encode_arguments(args, given))
        facts = msgspec.Raw(msgspec.msgpack.encode(self._facts_of(name)))
        frame = Frame(FRAME_VERSION, self.incarnation_id, name, arguments, facts)
        begun = time.monotonic()
        try:
            answer = await self._session.request(
                "POST", PATH, body=msgspec.msgpack.encode(frame),
                content_type="application/msgpack", is_repeatable=False,
            )  # fmt: skip
        except Unavailable as error:
            if name in _SIGNS:
                self._outage.say(error.message, error.detail, error.hint)
            raise
        if name in _SIGNS:
            self._outage.end()
            self._delay_ms = (time.monotonic() - begun) * 1000
        try:
            return form.decode_result(answer)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise _gone(f"its answer cannot be read: {error}") from error

    def _facts_of(self, name: str) -> LinkFacts | None:
        return self.facts(self._delay_ms) if name == "heartbeat" else None

    async def listen(self, *channels: str) -> AsyncIterator[tuple[str, str]]:
        """Yield notices; see the port `Notices`."""
        reply = await self._session.stream(
            f"{PATH}/notices", query={"incarnation": self.incarnation_id}
        )
        parser = EventParser()
        async with reply, aclosing(reply.chunks()) as chunks:  # type: ignore[type-var]  # it is a generator
            while True:
                try:
                    async with asyncio.timeout(SILENCE_S):
                        chunk = await anext(chunks)
                except (ConnectionLost, TimeoutError) as error:
                    raise _gone(str(error) or "it is silent") from error
                except StopAsyncIteration:
                    raise _gone("it ended the notices") from None
                for event in parser.feed(chunk):
                    channel, payload = read_json(event.data, tuple[str, str])
                    if channel in channels or not channel:
                        yield channel, payload

    def close(self) -> None:
        """Close the connections."""
        self._session.close()


def _gone(why: str) -> Unavailable:
    return Unavailable(
        "the link to the api is interrupted",
        detail=f"{why[:1].upper()}{why[1:]}.",
        hint="The worker tries again.",
    )
