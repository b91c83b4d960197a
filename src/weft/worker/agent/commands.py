"""Pass on what running attempts are told, and report what came of it."""

import asyncio
from collections.abc import Sequence

from weft.core.states import AttemptKey
from weft.ports.patience import until_answered
from weft.ports.runner import Runner
from weft.ports.store import WorkerStore
from weft.worker.agent.attempt_files import MessageFiles
from weft.worker.agent.held import HeldAttempts

_SETTLED_S = 11.0
"""Longer than `_settle_commands` waits for an acknowledgement."""


class Commands:
    """Ask for commands when a notice says that there are some, and tell what came of them.

    An extended job may be claimed by any worker, so while there is one, this also asks after each
    claim.
    """

    def __init__(
        self,
        store: WorkerStore,
        incarnation_id: int,
        held: HeldAttempts,
        runner: Runner,
        messages: MessageFiles,
    ) -> None:
        self._store = store
        self._incarnation_id = incarnation_id
        self._held = held
        self._runner = runner
        self._messages = messages
        self._asks_again = False
        self._asks = False
        self._sent: dict[int, AttemptKey] = {}
        """Those of which the database does not know yet what came of them."""
        self._obeyed: list[tuple[int, AttemptKey, str]] = []
        self._something = asyncio.Event()
        self._later: asyncio.TimerHandle | None = None

    def look(self) -> None:
        """Ask whether there are commands, and later once more: a command that came when its
        attempt was ending is recorded as not delivered by the first question after some seconds.
        """
        self._ask_soon()
        if self._later is None:
            self._later = asyncio.get_running_loop().call_later(_SETTLED_S, self._look_later)

    def _look_later(self) -> None:
        self._later = None
        self._ask_soon()

    def _ask_soon(self) -> None:
        self._asks = True
        self._something.set()

    def on_submitted(self) -> None:
        """Ask for those of attempts that the runner has just got, if there may be any."""
        if self._asks_again:
            self._ask_soon()

    def on_obeyed(self, obeyed: Sequence[tuple[int, str]]) -> None:
        """Report what came of these commands."""
        for number, refusal in obeyed:
            key = self._sent.get(number)
            if key is not None:
                self._obeyed.append((number, key, refusal))
        self._something.set()

    async def run(self) -> None:
        """Pass on and report, until cancelled."""
        while True:
            await self._something.wait()
            self._something.clear()
            if self._obeyed:
                obeyed, self._obeyed = self._obeyed, []
                await self._report(obeyed)
            if self._asks:
                self._asks = False
                await self._ask()

    async def _report(self, obeyed: Sequence[tuple[int, AttemptKey, str]]) -> None:
        await until_answered(
            lambda: self._store.acknowledge_commands(self._incarnation_id, obeyed)
        )
        for number, _, _ in obeyed:
            self._sent.pop(number, None)

    async def _ask(self) -> None:
        attempts = [
            (held.key.batch_id, held.key.job_id, held.key.attempt)
            for held in self._held.by_key.values()
            if held.is_sent and not held.ended
        ]
        commands, self._asks_again = await until_answered(
            lambda: self._store.list_commands(self._incarnation_id, attempts)
        )
        new = [command for command in commands if command.number not in self._sent]
        self._sent |= {command.number: command.key for command in new}
        passed_on = [command for command in new if command.message is None]
        if passed_on:
            self._runner.command(passed_on)
        self.on_obeyed(
            [
                (command.number, self._give(command.key, command.number, command.message))
                for command in new
                if command.message is not None
            ]
        )

    def _give(self, key: AttemptKey, number: int, text: str) -> str:
        """Give an attempt a message; return why not, or nothing."""
        if self._runner.outlives_host:
            return "its worker's runner cannot pass it on"
        if self._held.live(key) is None:
            return "it had ended"
        return self._messages.add(key, number, text)
