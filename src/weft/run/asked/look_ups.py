"""Questions of look-ups, away from the api: a process for each plug-in, started when first needed.

A process in which a question is not answered in time is killed with all that it started. Answers
are remembered for as long as a setup says, up to some MiB.
"""

import asyncio
import json
import time
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Final

from weft.core.lines.lookup import Answered, Question
from weft.ports.lookup import ANSWER_BYTES_MAX, LOOKUP_PLUGINS
from weft.run.asked.asked_process import START_S, AskedProcess, start
from weft.settings import Settings

AT_ONCE: Final = 8
"""Questions of one set."""
ANSWER_S: Final = 10.0
MARGIN_S: Final = 2.0
SET_S: Final = 30.0
"""For all questions of a set; then the rest has to wait, as an api has a source for a minute."""
CACHE_BYTES_MAX: Final = 16 << 20
_LATER: Final = Answered(away="there are many questions; it is asked soon", alone=True)


class LookUps:
    """Asks plug-ins."""

    def __init__(self, settings: Settings) -> None:
        self._site = {"private_hosts": settings.source_private_hosts, "timeout_s": ANSWER_S}
        self._answer_s = ANSWER_S + MARGIN_S
        self._starting: dict[str, asyncio.Lock] = {}
        self._processes: dict[str, AskedProcess] = {}
        self._all: set[AskedProcess] = set()
        self._known: OrderedDict[tuple[int, Question], tuple[float, int, Answered]] = OrderedDict()
        """Until when, how large and what."""
        self._bytes = 0

    async def ask(
        self, tenant_id: int, questions: Sequence[Question]
    ) -> Mapping[Question, Answered]:
        """Ask each once."""
        found: dict[Question, Answered] = {}
        away: dict[str, Answered] = {}
        room = asyncio.Semaphore(AT_ONCE)

        async def one(question: Question) -> None:
            known = self._remembered((tenant_id, question))
            if known is None:
                async with room:
                    known = away.get(question.name) or await self._ask(question)
                if known.away is not None and not known.alone:
                    away[question.name] = known
                self._remember((tenant_id, question), known)
            found[question] = known

        different = [*dict.fromkeys(questions)]
        with suppress(TimeoutError):
            async with asyncio.timeout(SET_S), asyncio.TaskGroup() as group:
                for question in different:
                    group.create_task(one(question))
        return {question: found.get(question, _LATER) for question in different}

    async def close(self) -> None:
        """End all processes."""
        for one in [*self._all]:
            await one.end()

    async def _ask(self, question: Question) -> Answered:
        process = None
        try:
            async with asyncio.timeout(START_S):
                process = await self._process(question.plugin)
            if process is None:
                return Answered(away=f"there is no look-up {question.plugin!r} here")
            async with asyncio.timeout(self._answer_s):
                answer = await process.ask(json.loads(question.options))
        except (TimeoutError, OSError, EOFError):
            if process is not None:
                process.retire()
            return Answered(away=f"it did not answer within {ANSWER_S:g} s")
        return Answered(answer["value"], answer.get("away"), answer.get("alone", False))

    async def _process(self, plugin: str) -> AskedProcess | None:
        async with self._starting.setdefault(plugin, asyncio.Lock()):
            found = self._processes.get(plugin)
            if found is None or found.is_retired:
                if plugin not in LOOKUP_PLUGINS.names():
                    return None
                site = {"plugin": plugin, **self._site}
                found = await start("weft.run.asked.lookup", site, 2 * ANSWER_BYTES_MAX)
                self._processes[plugin] = found
                self._all.add(found)
                found.ended.add_done_callback(lambda _: self._all.discard(found))
            return found

    def _remembered(self, key: tuple[int, Question]) -> Answered | None:
        known = self._known.get(key)
        return known[2] if known is not None and known[0] > time.monotonic() else None

    def _remember(self, key: tuple[int, Question], answered: Answered) -> None:
        question = key[1]
        if question.cache_s == 0 or answered.away is not None or answered.value is None:
            return
        if before := self._known.pop(key, None):
            self._bytes -= before[1]
        size = len(question.options) + len(json.dumps(answered.value))
        self._known[key] = (time.monotonic() + question.cache_s, size, answered)
        self._bytes += size
        while self._bytes > CACHE_BYTES_MAX:
            self._bytes -= self._known.popitem(last=False)[1][1]
