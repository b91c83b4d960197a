"""Messages of sinks, made away from the driver: a process for each tenant, started when needed."""

import asyncio
import json
import os
import sys
from collections import deque
from collections.abc import Mapping
from contextlib import suppress
from typing import Any, Final

import msgspec

from weft.driver.loops.callbacks import Misfit

TIMEOUT_S: Final = 5.0
"""Of one message."""
START_S: Final = 30.0
"""What Python and its modules may take to load."""
IDLE_S: Final = 60.0
"""A process without messages ends after this."""
_LINE_BYTES_MAX: Final = 16 << 20
_ENVIRONMENT: Final = ("LANG", "LC_ALL", "PATH", "PYTHONPATH", "TZ")


class MessageMaking:
    """Makes messages, one after another for each tenant."""

    def __init__(self, *, timeout_s: float = TIMEOUT_S) -> None:
        self._timeout_s = timeout_s
        self._makers: dict[int, _Maker] = {}

    async def make(
        self, tenant_id: int, template: str, facts: Mapping[str, Any], schema: str | None = None
    ) -> str:
        """Return the message. Raise `ValueError`, which says why there is none, and `Misfit` if
        there never is one.
        """
        maker = self._makers.setdefault(tenant_id, _Maker(self._timeout_s))
        return await maker.make(template, facts, schema)

    async def close(self) -> None:
        """End all processes."""
        for maker in self._makers.values():
            await maker.end()


class _Maker:
    """The process of one tenant. It answers in the order in which it is asked, so it is asked
    ahead.
    """

    def __init__(self, timeout_s: float) -> None:
        self._timeout_s = timeout_s
        self._process: asyncio.subprocess.Process | None = None
        self._asked: deque[tuple[bytes, asyncio.Future[Mapping[str, str]]]] = deque()
        self._reading: asyncio.Task[None] | None = None
        self._idle: asyncio.TimerHandle | None = None

    async def make(self, template: str, facts: Mapping[str, Any], schema: str | None) -> str:
        asked = {"template": template, "facts": {**facts}, "schema": schema}
        line = msgspec.json.encode(asked) + b"\n"
        answered: asyncio.Future[Mapping[str, str]] = asyncio.get_running_loop().create_future()
        self._asked.append((line, answered))
        self._write(line)
        if self._reading is None or self._reading.done():
            self._reading = asyncio.create_task(self._read())
        answer = await answered
        if "message" in answer:
            return answer["message"]
        if "misfit" in answer:
            raise Misfit(answer["misfit"])
        raise ValueError(answer["error"])

    async def _read(self) -> None:
        """Read answers until all are there; one that does not come is the next one's fault."""
        if self._idle is not None:
            self._idle.cancel()
        try:
            while self._asked:
                answer = await self._next()
                _, answered = self._asked.popleft()
                if not answered.done():  # nobody waits for it any more
                    answered.set_result(answer)
            self._idle = asyncio.get_running_loop().call_later(IDLE_S, self._kill)
        except BaseException as error:
            for _, answered in self._asked:
                if not answered.done():
                    answered.set_exception(ValueError(f"the message cannot be made: {error}"))
            self._asked.clear()
            raise

    async def _next(self) -> Mapping[str, str]:
        """Return the next answer, or why there is none: then the process is ended, and the rest
        asked again.
        """
        try:
            process = self._process
            if process is None or process.returncode is not None:
                async with asyncio.timeout(START_S):
                    process = await self._start()
                for line, _ in self._asked:
                    self._write(line)
            assert process.stdout is not None
            async with asyncio.timeout(self._timeout_s):
                found = await process.stdout.readuntil(b"\n")
            answer: Mapping[str, str] = msgspec.json.decode(found, type=dict[str, str])
        except TimeoutError:
            await self._stop()
            return {"error": f"the message took longer than {self._timeout_s:g} s"}
        except (OSError, EOFError, ValueError, asyncio.LimitOverrunError):
            await self._stop()
            return {"error": "the message cannot be made: its process ended"}
        return answer

    def _write(self, line: bytes) -> None:
        if self._process is not None and self._process.returncode is None:
            assert self._process.stdin is not None
            self._process.stdin.write(line)

    async def _start(self) -> asyncio.subprocess.Process:
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-P", "-m", "weft.run.asked.message",
            stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL, start_new_session=True, cwd="/",
            limit=_LINE_BYTES_MAX,
            env={name: os.environ[name] for name in _ENVIRONMENT if name in os.environ},
        )  # fmt: skip
        ready = json.dumps({"template": "1", "facts": {}}).encode() + b"\n"
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(ready)
        try:
            await process.stdout.readline()
        except BaseException:
            process.kill()
            raise
        self._process = process
        return process

    def _kill(self) -> None:
        if self._process is not None and self._process.returncode is None:
            with suppress(ProcessLookupError):
                self._process.kill()

    async def _stop(self) -> None:
        self._kill()
        if self._process is not None:
            await self._process.wait()
            self._process = None

    async def end(self) -> None:
        """Kill it."""
        if self._idle is not None:
            self._idle.cancel()
        if self._reading is not None:
            self._reading.cancel()
            await asyncio.gather(self._reading, return_exceptions=True)
        await self._stop()
