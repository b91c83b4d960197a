"""One call of the link is one request. The notices are one request that is answered for long. What
the api asks by them about the directories of running attempts is answered here, too.

Where the api is, and the token of this worker, is read again whenever it is refused.
"""

import asyncio
import os
import stat
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import aclosing, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import msgspec

from weft.client.http.address import Endpoint, parse_url
from weft.client.http.connection import ConnectionLost, Reply, until_silent
from weft.client.http.session import Finder, HttpSession
from weft.client.http.sse import EventParser
from weft.client.http.trust import require_tls
from weft.core.bounded import read_json, read_msgpack
from weft.core.errors import ExecElsewhere, LinkRefused, Unavailable
from weft.core.files.file_paths import WrongPath, parts_of
from weft.plugins.runners.spawner.beside import Channel
from weft.ports.patience import end_tasks, tasks_beside
from weft.ports.running_files import RunningAttempt, RunningFile, RunningFiles
from weft.ports.worker_link import (
    FRAME_VERSION,
    LOG_BYTES_MAX,
    LOOKED_MAX,
    Frame,
    LinkFacts,
    Look,
    Seen,
    call_forms,
)
from weft.settings import InvalidSetting, Settings
from weft.telemetry.log import log
from weft.telemetry.outage import Outage
from weft.wire import exec as wire

PATH: Final = "/v1/worker-link"
REPLY_TIMEOUT_S: Final = 10.0
"""A connection may die without a word. Less than half of the silence after which jobs are given
to others, so that a heartbeat gets through on the next one.
"""
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
        said = self.facts(self._delay_ms) if name == "heartbeat" else None
        facts = msgspec.Raw(msgspec.msgpack.encode(said))
        frame = Frame(FRAME_VERSION, self.incarnation_id, name, arguments, facts)
        begun = time.monotonic()
        try:
            answer = await self._session.request(
                "POST",
                PATH,
                body=msgspec.msgpack.encode(frame),
                content_type="application/msgpack",
                is_repeatable=False,
            )
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

    async def listen(self, *channels: str) -> AsyncIterator[tuple[str, str]]:
        """Yield notices; see the port `Notices`."""
        reply = await self._session.stream(
            f"{PATH}/notices", query={"incarnation": self.incarnation_id}
        )
        parser = EventParser()
        async with reply, aclosing(until_silent(reply.chunks(), wire.SILENCE_S)) as chunks:
            try:
                async for chunk in chunks:
                    for event in parser.feed(chunk):
                        channel, payload = read_json(event.data, tuple[str, str])
                        if channel in channels or not channel:
                            yield channel, payload
            except (ConnectionLost, TimeoutError) as error:
                raise _gone(str(error) or "it is silent") from error
        raise _gone("it ended the notices")

    async def open_exec(self, number: str) -> Reply:
        """Open the stream of a command (`wire/exec.py`). Raise what refuses it, `TimeoutError`."""
        async with asyncio.timeout(REPLY_TIMEOUT_S):
            return await self._session.stream(
                f"{PATH}/exec",
                first=b"",
                query={"incarnation": self.incarnation_id, "number": number},
            )

    def close(self) -> None:
        """Close the connections."""
        self._session.close()


def _gone(why: str) -> Unavailable:
    return Unavailable(
        "the link to the api is interrupted",
        detail=f"{why[:1].upper()}{why[1:]}.",
        hint="The worker tries again.",
    )


_TOKEN_BYTES_MAX: Final = 4096
_WRITTEN: Final = "Write into it what `weft token create NAME --pool POOL` prints."


def finder_of(settings: Settings) -> "LinkFinder":
    """Return what finds the api of a worker that connects."""
    assert settings.connect is not None
    return LinkFinder(
        settings.connect, settings.token_file, settings.ca_file, settings.connect_cert_file
    )


@dataclass(frozen=True)
class LinkFinder:
    """Finds the api for a linked worker."""

    url: str
    token_file: Path | None
    ca_file: Path | None = None
    cert_file: Path | None = None

    def locate(self) -> Endpoint:
        """Return the api. Raise `InvalidSetting`, `InvalidUrl`."""
        url = parse_url(self.url, None)
        require_tls(url)
        return url._replace(token=self._token(), ca_file=self.ca_file, cert_file=self.cert_file)

    def _token(self) -> str:
        file = self.token_file
        if file is None:
            raise InvalidSetting(
                "a worker that connects needs a token",
                detail="The setting `connect` is given, and `token_file` is not.",
                hint="Make one with `weft token create NAME --pool POOL`, and name its file with "
                "--token-file.",
            )
        try:
            with file.open("rb") as opened:
                mode = os.fstat(opened.fileno()).st_mode
                text = opened.read(_TOKEN_BYTES_MAX).decode().strip()
        except (OSError, UnicodeDecodeError) as error:
            why = f"{getattr(error, 'strerror', None) or error}"
            raise InvalidSetting(
                f"the token in {file} cannot be read", detail=f"{why}.", hint=_WRITTEN
            ) from error
        if mode & (stat.S_IRWXG | stat.S_IRWXO):
            raise InvalidSetting(
                f"others may read {file}",
                detail="Whoever has the token may run the jobs of its pool.",
                hint=f"Protect it with `chmod 600 {file}`.",
            )
        if not text or not text.isascii() or not text.isprintable():
            why = "It is empty, or holds more than one line of letters, digits and signs."
            raise InvalidSetting(f"{file} does not hold a token", detail=why, hint=_WRITTEN)
        return text


_WAITING_MAX: Final = 32
"""The api asks for less at a time; what is more is not answered."""
_COMMANDS_MAX: Final = 128
"""The spawner begins half as many, and says so."""
_TRIES: Final = 8
_PAUSE_S: Final = 0.1
Begins = Callable[[wire.Begin, wire.Terminal | None], Awaitable[Channel | wire.Refused | None]]


class Looking:
    """Answers one question after the other, so that it takes little of the worker."""

    def __init__(self, caller: LinkCaller, worker: str) -> None:
        self._caller = caller
        self._worker = worker
        self.running: RunningFiles | None = None
        self.begin: Begins
        """Starts a command beside a job. Both are set before the first question can come."""
        self._commands: set[asyncio.Task[None]] = set()
        self._waiting: asyncio.Queue[str] = asyncio.Queue(_WAITING_MAX)

    def ask(self, question: str) -> None:
        """Take a question, to be answered."""
        if not self._waiting.full():
            self._waiting.put_nowait(question)

    async def run(self) -> None:
        """Answer until cancelled."""
        async with tasks_beside(self._commands):
            while True:
                await self._answer(await self._waiting.get())

    async def _answer(self, question: str) -> None:
        try:
            look = read_json(question, Look)
            if look.opens:
                if len(self._commands) < _COMMANDS_MAX:
                    self._commands.add(task := asyncio.create_task(self._carry(look.number)))
                    task.add_done_callback(self._commands.discard)
                return
            seen = await self._look(look)
            await self._caller.call("answer_look", self._caller.incarnation_id, look.number, seen)
        except Exception as error:  # noqa: BLE001 (whatever it is, others ask, too)
            log.warning("link.not_answered", error=f"{error!r}")

    async def _carry(self, number: str) -> None:
        """Open the stream of a command, and carry it to its end."""
        try:
            for _ in range(_TRIES):  # of several apis behind one address one knows it
                with suppress(Unavailable, LinkRefused, TimeoutError):
                    async with await self._caller.open_exec(number) as reply:
                        return await self._run(reply)
                await asyncio.sleep(_PAUSE_S)
            seen = Seen(data=b"not there")  # data: it is no older release that answers
            await self._caller.call("answer_look", self._caller.incarnation_id, number, seen)
        except Exception as error:  # noqa: BLE001 (whatever it is, jobs go on)
            log.warning("link.exec_lost", error=f"{error!r}")

    async def _run(self, reply: Reply) -> None:
        frames = wire.frames(until_silent(reply.chunks(), wire.SILENCE_S))
        _, data = await anext(frames)
        channel = await self.begin(*read_msgpack(data, tuple[wire.Begin, wire.Terminal | None]))
        if not isinstance(channel, Channel):
            channel = channel or wire.Refused(ExecElsewhere.code, "its worker runs no processes")
            await reply.send(wire.frame(wire.BEGIN, msgspec.msgpack.encode(channel)))
            await anext(frames, None)  # it is read when the api ends this
            return
        saying = asyncio.create_task(_say(reply, channel))
        try:
            async for kind, data in frames:  # to the end: the api has read all
                if not await channel.take(kind, data):
                    break
        finally:
            await end_tasks([saying])
            channel.close()

    async def _look(self, look: Look) -> Seen:
        assert self.running is not None
        of = RunningAttempt(look.key, self._worker)
        if look.path is None:
            listed = [one for one in await self.running.listed(of) if _has_path(one)]
            return Seen(listed[:LOOKED_MAX])
        if look.n_bytes == 0:
            found = await self.running.find(of, look.path)
            return Seen(() if found is None else (found,))
        stop = look.start + min(look.n_bytes, LOG_BYTES_MAX)
        pieces = [piece async for piece in self.running.read(of, look.path, look.start, stop)]
        return Seen(data=b"".join(pieces))


async def _say(reply: Reply, channel: Channel) -> None:
    await reply.send(wire.frame(wire.BEGIN, msgspec.msgpack.encode(wire.Begun())))
    async for piece in channel.frames():
        await reply.send(piece)


def _has_path(one: RunningFile) -> bool:
    """Say whether a job could leave this file: its name may be no text."""
    try:
        parts_of(one.path)
    except WrongPath:
        return False
    return True
