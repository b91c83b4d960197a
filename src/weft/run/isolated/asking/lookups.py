"""Questions of look-ups, away from the api: a process for each plug-in and tenant, whose servers
may answer with anything, started when first needed.

Answers are remembered for as long as a setup says, up to some MiB.
"""

import asyncio
import json
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any, Final

from weft.core.addresses import parse_allowed_hosts
from weft.core.deliveries.credentials import SECRET
from weft.core.errors import SecretKeyMissing
from weft.ports.lookup import LOOKUP_PLUGINS, Answered, Question
from weft.ports.patience import run_beside
from weft.ports.source import SourceSite
from weft.run.isolated.answering.lookup import ERROR_CHARS_MAX
from weft.run.isolated.pool import AsksPool, Failed, Pool
from weft.run.isolated.process import Ended
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


class LookUps(AsksPool):
    """Asks plug-ins."""

    def __init__(self, settings: Settings, keys: Callable[[], OpensSecrets] = SecretKeys) -> None:
        self._keys = keys
        allowed = parse_allowed_hosts(settings.source_private_hosts)
        site = SourceSite(allowed=allowed, timeout_s=ANSWER_S)
        self.pool = Pool("lookup", ANSWER_S + MARGIN_S, lambda key: (key[1], site))
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
                    known = away.get(question.name) or await self._ask(tenant_id, question, sealed)
                if known.away is not None and not known.alone:
                    away[question.name] = known
                self._remember(key, known)
            found[question] = known

        different = [*dict.fromkeys(questions)]
        with suppress(TimeoutError):
            async with asyncio.timeout(SET_S):
                await run_beside(*map(one, different))
        return {question: found.get(question, _LATER) for question in different}

    async def _ask(
        self, tenant_id: int, question: Question, sealed: Mapping[str, Any] | None
    ) -> Answered:
        options = json.loads(question.options)
        values: Mapping[str, str] = {}
        try:
            if SECRET.search(question.options):
                options, values = opened(options, sealed or {"bodies": {}}, self._keys())
        except (SecretKeyMissing, ValueError) as error:
            return Answered(away=str(error))
        if question.plugin not in LOOKUP_PLUGINS.names():
            return Answered(away=f"there is no look-up {question.plugin!r} here")
        try:
            answer: Answered = await self.pool.ask((tenant_id, question.plugin), options, Answered)
        except Failed as error:
            is_loaded, is_memory = error.failure.is_loaded, error.failure.is_memory
            said = "it takes too much memory" if is_memory else str(error)
            said = said if is_loaded else f"it cannot be loaded: {error}"
            answer = Answered(away=said[:ERROR_CHARS_MAX], alone=is_loaded)
        except (TimeoutError, Ended):
            answer = Answered(away=f"it did not answer within {ANSWER_S:g} s")
        return Answered(folded(answer.value, values), folded(answer.away, values), answer.alone)

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
