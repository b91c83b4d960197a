"""What was acknowledged, and is still kept by the engine until it has let go of it."""

import asyncio
from collections.abc import Callable, Iterable
from typing import Final

from weft.core.attempt_key import AttemptKey
from weft.core.errors import Unavailable
from weft.plugins.runners.remote.engine import Engine
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
