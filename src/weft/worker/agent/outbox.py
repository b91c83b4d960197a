"""The one queue from the runner to the store: what happened to attempts and is not reported yet.

Two take from it: `Reporting`, and each claim, which carries the ends that are waiting.
"""

import asyncio
from collections.abc import Sequence
from itertools import chain
from typing import Final

import msgspec

from weft.core.ends.conditions import ALWAYS, BLOCKS_EXIT_CODE, Ask, WrongAsk
from weft.core.states import AttemptKey
from weft.ports.runner import Ended, Entered, Started
from weft.worker.agent.attempt_files import BlockFiles

SET_WANTED: Final = 250
SET_MAX: Final = 1000


class Outbox:
    """Starts, phases and ends, each attempt once in each. One set of ends travels at a time."""

    def __init__(self, block_files: BlockFiles) -> None:
        self._block_files = block_files
        self._starts: dict[AttemptKey, Started] = {}
        self._phases: dict[AttemptKey, Entered] = {}
        self._ends: dict[AttemptKey, Ended] = {}
        self._sending: dict[AttemptKey, Ended] = {}
        self._asks: dict[AttemptKey, Ask] = {}
        """What attempts that are about to be reported wait for."""
        self.something = asyncio.Event()
        self.enough = asyncio.Event()
        """As many ends as one report should have."""
        self.ends_make_work = False
        """The last ends opened a limit or released a child: the next are left to a claim, so that
        they and what they make ready are one transaction."""
        self._settled = asyncio.Event()
        self._settled.set()

    def add_start(self, started: Started) -> None:
        """Report that an attempt runs; its earlier phases need no report any more."""
        self._phases.pop(started.key, None)
        self._starts[started.key] = started
        self.something.set()

    def add_phase(self, entered: Entered) -> None:
        """Report the phase of an attempt; only the latest one is sent."""
        self._phases[entered.key] = entered
        self.something.set()

    def add_end(self, ended: Ended) -> None:
        """Report an end. Its start and phase then need no separate report."""
        if ended.key in self._sending:
            return
        self._starts.pop(ended.key, None)
        self._phases.pop(ended.key, None)
        self._ends[ended.key] = self._with_ask(ended)
        self._settled.clear()
        self.something.set()
        if len(self._ends) >= SET_WANTED:
            self.enough.set()

    @property
    def has_enough(self) -> bool:
        """Say whether a report should not wait for more ends."""
        return len(self._ends) >= SET_WANTED

    @property
    def has_carried(self) -> bool:
        """Say whether there are ends that are left to a claim."""
        return self.ends_make_work and bool(self._ends) and not self._sending

    async def until_settled(self) -> None:
        """Wait until every end is recorded."""
        await self._settled.wait()

    def take_ends(self) -> Sequence[Ended]:
        """Return the ends to report now; none while others are being reported. The caller must
        pass them to `settle` once they are recorded.
        """
        if self._sending:
            return []
        keys = list(self._ends)[:SET_MAX]
        self._sending = {key: self._ends.pop(key) for key in keys}
        return list(self._sending.values())

    def settle(self, keys: Sequence[AttemptKey]) -> None:
        """Forget ends that are under way: they are recorded."""
        for key in keys:
            self._sending.pop(key, None)
        if self._ends or self._starts or self._phases:
            self.something.set()
        if not (self._ends or self._sending):
            self._settled.set()

    def take_asks(self, ends: Sequence[Ended]) -> dict[AttemptKey, Ask]:
        """Return what these attempts wait for; it must be told before their ends."""
        if not self._asks:
            return {}
        return {end.key: self._asks.pop(end.key) for end in ends if end.key in self._asks}

    def take_starts(self) -> Sequence[Started]:
        """Return the starts that may be reported now. A start that took the place of a process
        whose end is not recorded yet must wait: the records would exceed the worker's capacity.
        """
        waiting = chain(self._ends.values(), self._sending.values())
        before_ns = min((one.ended_ns for one in waiting), default=None)
        starts = [
            one for one in self._starts.values() if before_ns is None or one.started_ns < before_ns
        ]
        for one in starts:
            del self._starts[one.key]
        return starts

    def take_phases(self) -> Sequence[Entered]:
        """Return the phases that may be reported now: a phase must not overtake its start."""
        phases = [entered for key, entered in self._phases.items() if key not in self._starts]
        for phase in phases:
            del self._phases[phase.key]
        return phases

    def has_end(self, key: AttemptKey) -> bool:
        """Say whether the end of an attempt waits here: its start needs no report then."""
        return key in self._ends

    def _with_ask(self, ended: Ended) -> Ended:
        """Note what an attempt asks to wait for; what is wrong with that becomes its message."""
        if ended.exit_code != BLOCKS_EXIT_CODE and ended.ask is None:
            return ended
        try:
            ask, told = self._block_files.read(ended.key) if ended.ask is None else (ended.ask, "")
        except WrongAsk as error:
            ask, told = None, f"the block file is ignored: {error}"
        else:
            told = told and f"a field of the block file is ignored: {told}"
        if ask is not None and ask.tester != ALWAYS:
            self._asks[ended.key] = ask
        return msgspec.structs.replace(ended, message=ended.message or told) if told else ended
