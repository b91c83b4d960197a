"""Directories that are kept for who needs them next. Those go that were not used for longest."""

import asyncio
import os
import shutil
import stat
import time
from collections import Counter
from collections.abc import Callable, Coroutine, Hashable, Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, Final, Generic, TypeVar

import msgspec

_YOUNG_S: Final = 60.0
"""One that was used as recently as this stays: somebody may be starting a job with it."""
_STALE_S: Final = 86_400.0


Made = TypeVar("Made")


class Once(Generic[Made]):
    """Makes each thing once for all that wait for it. What failed is told to all that ask in the
    next `pause_s`, and only then tried again. What nobody waits for any longer is stopped.
    """

    def __init__(self, pause_s: float = 0.0) -> None:
        self._pause_s = pause_s
        self._making: dict[Hashable, asyncio.Task[Made]] = {}
        self._waiting = Counter[asyncio.Task[Made]]()

    async def get(self, key: Hashable, make: Callable[[], Coroutine[Any, Any, Made]]) -> Made:
        """Return what this makes, or raise what it raises."""
        task = self._making.get(key)
        if task is None:
            task = self._making[key] = asyncio.create_task(make())
            task.add_done_callback(partial(self._on_made, key))
        self._waiting[task] += 1
        try:
            return await asyncio.shield(task)
        finally:
            self._waiting[task] -= 1
            if not self._waiting[task]:
                del self._waiting[task]
                if not task.done():
                    self._forget(key, task)  # who asks now does not wait for what is stopped
                    task.cancel()

    def _on_made(self, key: Hashable, task: "asyncio.Task[Made]") -> None:
        has_failed = not task.cancelled() and task.exception() is not None
        pause_s = self._pause_s if has_failed else 0.0
        asyncio.get_running_loop().call_later(pause_s, self._forget, key, task)

    def _forget(self, key: Hashable, task: "asyncio.Task[Made]") -> None:
        if self._making.get(key) is task:
            del self._making[key]

    def close(self) -> None:
        """Stop what is being made."""
        for task in self._making.values():
            task.cancel()


def free_some(
    cache: Path,
    read: Callable[[Path], tuple[float, int]],
    bytes_max: int,
    is_kept: Callable[[Path], bool],
) -> Iterator[tuple[str, int]]:
    """Remove those not used for longest, until the rest fits; yield the names and bytes of what is
    gone. `read` says when one was used last and its bytes, and raises for what was left half made.
    """
    whole: list[tuple[float, Path, int]] = []
    now = time.time()
    for folder in cache.iterdir():
        with suppress(OSError, ValueError, msgspec.MsgspecError):
            used_at, size = read(folder)
            if not folder.name.startswith("."):
                whole.append((used_at, folder, size))
                continue
        with suppress(OSError):
            if now - folder.stat().st_mtime > _STALE_S:
                remove_tree(folder)  # who made or removed it was killed
    total = sum(size for _, _, size in whole)
    for used_at, folder, size in sorted(whole):
        if total <= bytes_max:
            return
        if now - used_at < _YOUNG_S or is_kept(folder):
            continue
        gone = folder.with_name(f".gone-{folder.name}")
        with suppress(OSError):
            folder.rename(gone)
            if read(gone)[0] != used_at:  # somebody begins to use it
                gone.rename(folder)
                continue
            remove_tree(gone)
            total -= size
            yield folder.name, size


def remove_tree(directory: Path) -> None:
    """Remove a tree, also where it has directories that its owner may not write."""
    if not directory.exists():
        return
    for at, _, _ in os.walk(directory):
        with suppress(OSError):
            Path(at).chmod(stat.S_IRWXU)
    shutil.rmtree(directory, ignore_errors=True)
