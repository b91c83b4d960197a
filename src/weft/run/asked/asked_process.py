"""Processes that answer questions, any number at the same time: a line of JSON each way.

One that is retired gets no more questions, and is killed with all that it started when the others
have ended. Its environment holds no settings and no secrets.
"""

import asyncio
import json
import os
import sys
from collections.abc import Mapping
from itertools import count
from typing import Any, Final

from weft.core.bounded import ENVELOPE_DEPTH_MAX, read_json
from weft.run.host.process_group import kill_group

START_S: Final = 30.0
"""What Python and its modules may take to load."""
IDLE_S: Final = 60.0
"""A process without questions ends after this."""
_ENVIRONMENT: Final = ("LANG", "LC_ALL", "PATH", "PYTHONPATH", "TZ")
Answer = Mapping[str, Any]


async def start(module: str, site: Mapping[str, Any], line_bytes: int) -> "AskedProcess":
    """Return a process that is ready: `python -m MODULE`. Raise `EOFError` or `OSError`."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-P", "-m", module,
        stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL, start_new_session=True, cwd="/", limit=line_bytes,
        env={name: os.environ[name] for name in _ENVIRONMENT if name in os.environ},
    )  # fmt: skip
    found = AskedProcess(process)
    try:
        await found.ask(site)
    except BaseException:
        await found.end()
        raise
    return found


class AskedProcess:
    """A process with the questions that are under way in it."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self.is_retired = False
        """It gets no more questions, and ends after those that it has."""
        self._process = process
        self._pending: dict[int, asyncio.Future[Answer]] = {}
        self._numbers = count()
        self._idle: asyncio.TimerHandle | None = None
        self.ended = asyncio.create_task(self._read())

    @property
    def pid(self) -> int:
        """Return its number."""
        return self._process.pid

    async def ask(self, document: Mapping[str, Any]) -> Answer:
        """Return the answer. Raise `EOFError` if it ends without one."""
        self._stay()
        number = next(self._numbers)
        answer: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()
        self._pending[number] = answer
        try:
            assert self._process.stdin is not None
            line = json.dumps({"id": number, "asked": {**document}})
            self._process.stdin.write(line.encode() + b"\n")
            if self.ended.done():
                raise EOFError
            return await answer
        finally:
            self._pending.pop(number, None)
            self._end_unless_needed()

    def retire(self) -> None:
        """Give it no more questions."""
        self.is_retired = True
        self._end_unless_needed()

    async def end(self) -> None:
        """Kill it with all that it started."""
        self.is_retired = True
        self._kill()
        await self.ended

    async def _read(self) -> None:
        """Hand out answers until it ends."""
        assert self._process.stdout is not None
        try:
            while line := await self._process.stdout.readline():
                found = read_json(line, depth_max=ENVELOPE_DEPTH_MAX)
                answer = self._pending.get(found["id"])
                if answer is not None and not answer.done():
                    answer.set_result(found)
        except ValueError:  # a line without an end, or that cannot be read
            pass
        finally:
            self.is_retired = True
            self._kill()
            self._stay()
            for answer in self._pending.values():
                if not answer.done():
                    answer.set_exception(EOFError("it ended without an answer"))
        await self._process.wait()

    def _end_unless_needed(self) -> None:
        if self._pending or self.ended.done():
            return
        if self.is_retired:
            self._kill()
        else:
            self._idle = asyncio.get_running_loop().call_later(IDLE_S, self.retire)

    def _kill(self) -> None:
        kill_group(self._process)

    def _stay(self) -> None:
        if self._idle is not None:
            self._idle.cancel()
            self._idle = None
