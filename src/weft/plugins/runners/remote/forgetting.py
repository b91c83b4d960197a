"""What the engine still keeps though it was acknowledged, and what it lost before that."""

import asyncio
from collections.abc import Callable, Iterable, Mapping
from typing import Final

from weft.core.errors import Unavailable
from weft.core.states import AttemptKey, Phase, Reason
from weft.plugins.runners.remote.ends import ago_s
from weft.plugins.runners.remote.engine import Engine, Status
from weft.plugins.runners.remote.handles import Handles

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
