"""What an engine says of attempts: how they ended, and of those that have not, why they wait and
where they run; what they are told; and what it still keeps though it was acknowledged.
"""

import asyncio
import os
import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final

from weft.core.errors import Unavailable
from weft.core.files.products import WrongProducts
from weft.core.states import AttemptKey, Command, Phase, Reason
from weft.plugins.runners.remote.engine import Engine, Left, Status
from weft.plugins.runners.remote.handles import Handle, Handles
from weft.ports.executor import ExecutorLimits
from weft.ports.log_store import Stored
from weft.ports.runner import Ended, without_products
from weft.wire.log_format import LogLocation

_NS: Final = 1_000_000_000


def at_ns(seconds_ago: float) -> int:
    """Return a time of `CLOCK_MONOTONIC`."""
    return time.monotonic_ns() - int(seconds_ago * _NS)


def ago_s(at_ns: int) -> float:
    """Return how long ago a time of `CLOCK_MONOTONIC` is."""
    return (time.monotonic_ns() - at_ns) / _NS


def ended_by(
    key: AttemptKey,
    status: Status,
    stop_reason: int | None,
    stored: Stored,
    location: LogLocation | None,
) -> Ended:
    """Return the end that a status tells. `stop_reason`: why the attempt had to end."""
    assert status.ended_s_ago is not None
    return Ended(
        key,
        0 if status.started_s_ago is None else at_ns(status.started_s_ago),
        at_ns(status.ended_s_ago),
        reason_of(status, stop_reason),
        status.exit_code,
        status.signal,
        status.message,
        cpu_ms=status.cpu_ms,
        memory_peak_bytes=status.memory_peak_bytes,
        stdout_bytes=stored.stdout.written,
        stderr_bytes=stored.stderr.written,
        truncated=stored.is_cut,
        location=location,
    )


def reason_of(status: Status, stop_reason: int | None) -> int | None:
    """Return why an attempt did not succeed. `stop_reason`: why it had to end."""
    if stop_reason is not None and (status.exit_code is None or status.signal is not None):
        return stop_reason
    if status.signal is not None:
        return Reason.SIGNAL
    if status.reason is not None:
        return status.reason
    if status.exit_code is None:
        return Reason.SYSTEM
    return Reason.EXIT if status.exit_code else None


class LeftFiles:
    """The directories of a worker for what attempts say; None: it has none."""

    def __init__(self, limits: ExecutorLimits | None) -> None:
        self._products = "" if limits is None else limits.product_files
        self._asks = "" if limits is None else limits.block_files
        self._progress = "" if limits is None else limits.progress_files

    def say(self, key: AttemptKey, progress: str) -> None:
        """Write how far an attempt says that it is where the agent looks, if it is new."""
        path, line = Path(self._progress, key.name), f"{progress}\n".encode()
        with suppress(OSError):  # a full disk ends no attempt
            if self._progress and not (path.exists() and path.read_bytes() == line):
                path.write_bytes(line)

    async def bring(self, engine: Engine, ended: Ended) -> Ended:
        """Ask for what an attempt left, and write it; return how its end is to be reported."""
        if not ended.started_ns or not (self._products or self._asks):
            return ended
        try:
            left = await engine.left(ended.key.name)
        except WrongProducts as error:
            return without_products(ended, str(error))
        if left != Left():
            await asyncio.to_thread(self._put, ended.key, left)
        return ended

    def _put(self, key: AttemptKey, left: Left) -> None:
        """Write; the agent removes it when the end is recorded."""
        for directory, content in ((self._products, left.products), (self._asks, left.ask)):
            if directory and content:
                Path(directory).mkdir(mode=0o700, parents=True, exist_ok=True)
                path = Path(directory, key.name)
                path.unlink(missing_ok=True)
                flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
                with os.fdopen(os.open(path, flags, 0o600), "wb") as file:
                    file.write(content)


_AGAIN_S: Final = 10.0
"""How often at most the engine is quoted about one attempt in one phase."""
_CHARS_MAX: Final = 300


class Notes:
    """What was last reported of each attempt, and when."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._last: dict[AttemptKey, tuple[str, float]] = {}

    def of_phase(self, key: AttemptKey, said: str) -> str:
        """Return what to report with a new phase."""
        self.forget(key)
        return self.news(key, said)

    def news(self, key: AttemptKey, said: str) -> str:
        """Return what to report in the same phase; empty: nothing new, or it is too soon."""
        now, note = self._clock(), said[:_CHARS_MAX]
        last, last_at = self._last.get(key, ("", now - _AGAIN_S))
        if note == last or now - last_at < _AGAIN_S:
            return ""
        self._last[key] = note, now
        return note

    def forget(self, key: AttemptKey) -> None:
        """Begin anew."""
        self._last.pop(key, None)

    def clear(self) -> None:
        """Begin anew with all."""
        self._last.clear()


async def tell_attempt(
    engine: Engine, command: Command, handle: Handle | None, phase: Phase | None
) -> str:
    """Tell an attempt in this phase, which has a handle if it is known and a phase if it has not
    ended. Return why it could not be told; empty: it was.
    """
    if handle is None or phase is None:
        return "it does not run any more"
    if command.signal is None and handle.assignment.spec.timeout_s is None:
        return "it has no time limit"
    if command.signal is not None and phase < Phase.EXECUTING:
        return "it waits in the engine"
    try:
        return await engine.tell(handle.assignment, command)
    except Unavailable as error:
        return error.message


_AWAY_S: Final = 1.0


class Forgetting:
    """The attempts of one gateway whose engine's data, and then their handles, are to go."""

    def __init__(
        self, engine: Engine, handles: Handles, is_held: Callable[[AttemptKey], bool]
    ) -> None:
        self._engine = engine
        self._handles = handles
        self._is_held = is_held
        """Whether an attempt was given again under its name: then its handle stays."""
        self._keys: dict[AttemptKey, None] = {}
        self._doing = asyncio.Lock()
        self._goes_on = False

    def add(self, keys: Iterable[AttemptKey]) -> None:
        """Note attempts that are over."""
        self._keys.update(dict.fromkeys(keys))

    def clear(self) -> None:
        """Note none: the handles say what is there."""
        self._keys.clear()

    async def go_on(self) -> None:
        """Forget what is noted, again while the engine is away; one who does that is enough."""
        if self._goes_on:
            return
        self._goes_on = True
        try:
            while self._keys:
                try:
                    await self.forget([*self._keys])
                except Unavailable:
                    await asyncio.sleep(_AWAY_S)
        finally:
            self._goes_on = False

    async def before(self, keys: Iterable[AttemptKey]) -> None:
        """Return once a later call forgets none of these, which are to be given again."""
        if late := [key for key in keys if key in self._keys]:
            await self.forget(late)

    async def forget(self, keys: Iterable[AttemptKey]) -> None:
        """Forget attempts now."""
        async with self._doing:
            some = [*keys]
            if some:
                await self._engine.forget([key.name for key in some])
            for key in some:
                self._keys.pop(key, None)
                if not self._is_held(key):
                    self._handles.remove(key)


# Somebody has removed them there, or the engine itself has, while no gateway looked. They are not
# submitted again, as they may have run: their retries decide.

_SAID: Final = "the engine does not have it any more: it was removed there"


class Missing:
    """What the engine has taken of one gateway's attempts, and what it has lost of them."""

    def __init__(self, handles: Handles) -> None:
        self._handles = handles
        self._given: set[AttemptKey] = set()
        self._begun_ns: dict[AttemptKey, int] = {}
        self._absent: set[AttemptKey] = set()
        """Those that the last look did not find."""

    def adopt(self, held: Iterable[AttemptKey]) -> None:
        """Read what earlier agents noted of these."""
        noted = self._handles.given()
        self._given = noted & {*held}
        self._handles.drop_given(noted - self._given)
        self._begun_ns.clear()
        self._absent.clear()

    def given(self, keys: Iterable[AttemptKey]) -> None:
        """Note attempts that the engine says it has."""
        new = {*keys} - self._given
        self._handles.note_given(new)
        self._given |= new

    def begun(self, key: AttemptKey, at_ns: int) -> None:
        """Note when an attempt has begun."""
        self._begun_ns[key] = at_ns

    def again(self, keys: Iterable[AttemptKey]) -> None:
        """Note that attempts are to be submitted anew, which were withdrawn before."""
        self._handles.drop_given(self._given & {*keys})
        self.forget(keys)

    def forget(self, keys: Iterable[AttemptKey]) -> None:
        """Drop what is known of attempts."""
        for key in keys:
            self._given.discard(key)
            self._begun_ns.pop(key, None)

    def has(self, key: AttemptKey) -> bool:
        """Return whether the engine has taken an attempt."""
        return key in self._given

    def asked(self) -> set[AttemptKey]:
        """Return what a look that begins now must find."""
        return {*self._given}

    def lost(
        self, keys: set[AttemptKey], found: Mapping[AttemptKey, Status]
    ) -> dict[AttemptKey, Status]:
        """Return the ends of what two looks in a row have not found."""
        before, self._absent = self._absent, (keys & self._given) - found.keys()
        return {key: self._end(key) for key in self._absent & before}

    def _end(self, key: AttemptKey) -> Status:
        begun_ns = self._begun_ns.get(key)
        started = None if begun_ns is None else ago_s(begun_ns)
        return Status(
            Phase.COLLECTING, started, 0.0, message=_SAID, reason=Reason.LOST, is_gone=True
        )
