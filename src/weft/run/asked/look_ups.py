"""Questions of look-ups, away from the api: a process for each plug-in, started when first needed.

A process in which a question is not answered in time is killed with all that it started. Answers
are remembered for as long as a setup says, up to some MiB.
"""

import asyncio
import json
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any, Final

from weft.core.deliveries.credentials import SECRET
from weft.core.errors import SecretKeyMissing
from weft.core.lines.lookup import Answered, Question
from weft.ports.lookup import ANSWER_BYTES_MAX, LOOKUP_PLUGINS
from weft.run.asked.asked_process import START_S, AskedProcess, start
from weft.settings import Settings
from weft.wire.sealed import OpensSecrets, SecretKeys, folded, opened

AT_ONCE: Final = 8
"""Questions of one set."""
ANSWER_S: Final = 10.0
MARGIN_S: Final = 2.0
SET_S: Final = 30.0
"""For all questions of a set; then the rest has to wait, as an api has a source for a minute."""
CACHE_BYTES_MAX: Final = 16 << 20
_LATER: Final = Answered(away="there are many questions; it is asked soon", alone=True)
_Key = tuple[int, int, Question]
"""Of a tenant and, if secrets are named, their owner."""


class LookUps:
    """Asks plug-ins."""

    def __init__(self, settings: Settings, keys: Callable[[], OpensSecrets] = SecretKeys) -> None:
        self._keys = keys
        self._site = {"private_hosts": settings.source_private_hosts, "timeout_s": ANSWER_S}
        self._answer_s = ANSWER_S + MARGIN_S
        self._starting: dict[str, asyncio.Lock] = {}
        self._processes: dict[str, AskedProcess] = {}
        self._all: set[AskedProcess] = set()
        self._known: OrderedDict[_Key, tuple[float, int, Answered]] = OrderedDict()
        """Until when, how large and what."""
        self._bytes = 0

    async def ask(
        self,
        tenant_id: int,
        questions: Sequence[Question],
        sealed: Mapping[str, Any] | None = None,
    ) -> Mapping[Question, Answered]:
        """Ask each once."""
        found: dict[Question, Answered] = {}
        away: dict[str, Answered] = {}
        room = asyncio.Semaphore(AT_ONCE)

        async def one(question: Question) -> None:
            key = (tenant_id, sealed["user_id"] if sealed else 0, question)
            known = self._remembered(key)
            if known is None:
                async with room:
                    known = away.get(question.name) or await self._ask(question, sealed)
                if known.away is not None and not known.alone:
                    away[question.name] = known
                self._remember(key, known)
            found[question] = known

        different = [*dict.fromkeys(questions)]
        with suppress(TimeoutError):
            async with asyncio.timeout(SET_S), asyncio.TaskGroup() as group:
                for question in different:
                    group.create_task(one(question))
        return {question: found.get(question, _LATER) for question in different}

    async def close(self) -> None:
        """End all processes."""
        for process in [*self._all]:
            await process.end()

    async def _ask(self, question: Question, sealed: Mapping[str, Any] | None) -> Answered:
        process, options = None, json.loads(question.options)
        values: Mapping[str, str] = {}
        try:
            if SECRET.search(question.options):
                options, values = opened(options, sealed or {"bodies": {}}, self._keys())
        except (SecretKeyMissing, ValueError) as error:
            return Answered(away=str(error))
        try:
            async with asyncio.timeout(START_S):
                process = await self._process(question.plugin)
            if process is None:
                return Answered(away=f"there is no look-up {question.plugin!r} here")
            async with asyncio.timeout(self._answer_s):
                answer = folded(await process.ask(options), values)
        except (TimeoutError, OSError, EOFError):
            if process is not None:
                process.retire()
            return Answered(away=f"it did not answer within {ANSWER_S:g} s")
        return Answered(answer["value"], answer.get("away"), answer.get("alone", False))

    async def _process(self, plugin: str) -> AskedProcess | None:
        async with self._starting.setdefault(plugin, asyncio.Lock()):
            process = self._processes.get(plugin)
            if process is None or process.is_retired:
                if plugin not in LOOKUP_PLUGINS.names():
                    return None
                site = {"plugin": plugin, **self._site}
                process = await start("weft.run.asked.lookup", site, 2 * ANSWER_BYTES_MAX)
                self._processes[plugin] = process
                self._all.add(process)
                process.ended.add_done_callback(lambda _: self._all.discard(process))
            return process

    def _remembered(self, key: _Key) -> Answered | None:
        known = self._known.get(key)
        return known[2] if known is not None and known[0] > time.monotonic() else None

    def _remember(self, key: _Key, answered: Answered) -> None:
        question = key[2]
        if question.cache_s == 0 or answered.away is not None or answered.value is None:
            return
        if before := self._known.pop(key, None):
            self._bytes -= before[1]
        size = len(question.options) + len(json.dumps(answered.value))
        self._known[key] = (time.monotonic() + question.cache_s, size, answered)
        self._bytes += size
        while self._bytes > CACHE_BYTES_MAX:
            self._bytes -= self._known.popitem(last=False)[1][1]
