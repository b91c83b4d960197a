"""Messages of sinks, made away from the driver: a process for each tenant, started when needed."""

import asyncio
import json
import os
import sys
from collections.abc import Mapping
from contextlib import suppress
from typing import Any, Final

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
    """Makes messages, one at a time for each tenant."""

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
    """The process of one tenant."""

    def __init__(self, timeout_s: float) -> None:
        self._timeout_s = timeout_s
        self._process: asyncio.subprocess.Process | None = None
        self._lock = asyncio.Lock()
        self._idle: asyncio.TimerHandle | None = None

    async def make(self, template: str, facts: Mapping[str, Any], schema: str | None) -> str:
        async with self._lock:
            if self._idle is not None:
                self._idle.cancel()
            asked = {"template": template, "facts": {**facts}, "schema": schema}
            line = json.dumps(asked).encode() + b"\n"
            try:
                answer = await self._ask(line)
            except TimeoutError:
                await self.end()
                raise ValueError(f"the message took longer than {self._timeout_s:g} s") from None
            except (OSError, EOFError, asyncio.LimitOverrunError) as error:
                await self.end()
                raise ValueError("the message cannot be made: its process ended") from error
            except BaseException:  # cancelled: an answer that comes later is not the next one's
                await self.end()
                raise
            self._idle = asyncio.get_running_loop().call_later(IDLE_S, self._kill)
        if "message" in answer:
            return answer["message"]
        if "misfit" in answer:
            raise Misfit(answer["misfit"])
        raise ValueError(answer["error"])

    async def _ask(self, line: bytes) -> Mapping[str, str]:
        process = self._process
        if process is None or process.returncode is not None:
            async with asyncio.timeout(START_S):
                process = self._process = await self._start()
        assert process.stdin is not None
        assert process.stdout is not None
        async with asyncio.timeout(self._timeout_s):
            process.stdin.write(line)
            await process.stdin.drain()
            found = await process.stdout.readline()
        if not found.endswith(b"\n"):
            raise EOFError
        answer: Mapping[str, str] = json.loads(found)
        return answer

    async def _start(self) -> asyncio.subprocess.Process:
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-P", "-m", "weft.run.message",
            stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL, start_new_session=True, cwd="/",
            limit=_LINE_BYTES_MAX,
            env={name: os.environ[name] for name in _ENVIRONMENT if name in os.environ},
        )  # fmt: skip
        self._process = process
        ready = json.dumps({"template": "1", "facts": {}}).encode() + b"\n"
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(ready)
        await process.stdout.readline()
        return process

    def _kill(self) -> None:
        if self._process is not None and self._process.returncode is None:
            with suppress(ProcessLookupError):
                self._process.kill()

    async def end(self) -> None:
        """Kill it."""
        if self._idle is not None:
            self._idle.cancel()
        self._kill()
        if self._process is not None:
            await self._process.wait()
            self._process = None
