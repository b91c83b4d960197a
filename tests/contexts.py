"""What lasts as long as a block, and fixtures of what a context manager opens."""

import asyncio
import inspect
import subprocess
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from contextlib import (
    AbstractAsyncContextManager,
    AbstractContextManager,
    asynccontextmanager,
    contextmanager,
    suppress,
)
from pathlib import Path
from shutil import rmtree
from tempfile import mkdtemp
from typing import Any, Literal, TypeVar

import asyncpg
import pytest

from weft.ports.patience import tasks_beside

Scope = Literal["function", "module", "session"]
_T = TypeVar("_T")
Fixture = Any
"""pytest's own type is private."""


def fixture_of(
    opened: Callable[..., AbstractContextManager[Any]], scope: Scope = "function"
) -> Fixture:
    """Return a fixture that opens something for a test, or for those of a module or a session.

    Parameters of `opened` without a default are names of fixtures.
    """

    def found(**fixtures: Fixture) -> Iterator[Any]:
        with opened(**fixtures) as one:
            yield one

    return pytest.fixture(scope=scope)(_asking_for(opened, found))


def async_fixture_of(
    opened: Callable[..., AbstractAsyncContextManager[Any]], scope: Scope = "function"
) -> Fixture:
    """Return a fixture that opens something asynchronously; the same holds for its parameters."""

    async def found(**fixtures: Fixture) -> AsyncIterator[Any]:
        async with opened(**fixtures) as one:
            yield one

    return pytest.fixture(scope=scope)(_asking_for(opened, found))


def _asking_for(opened: Callable[..., object], found: Callable[..., Any]) -> Callable[..., Any]:
    asked = inspect.signature(opened).parameters.values()
    needed = [one for one in asked if one.default is one.empty and one.kind is not one.VAR_KEYWORD]
    vars(found).update(__signature__=inspect.Signature(needed))
    return found


@contextmanager
def scratch(prefix: str = "weft-") -> Iterator[Path]:
    """Give a directory that is not below pytest's own: other users reach it, and a socket has room
    for its path.
    """
    path = Path(mkdtemp(prefix=prefix))
    try:
        yield path
    finally:
        rmtree(path, ignore_errors=True)


@contextmanager
def small_disk(place: Path, size: str) -> Iterator[Path]:
    """Mount a disk of this size there, or skip the test."""
    place.mkdir(parents=True, exist_ok=True)
    mount = ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(place)]
    if subprocess.run(mount, check=False, capture_output=True).returncode != 0:
        pytest.skip("only root can mount")
    try:
        yield place
    finally:
        subprocess.run(["umount", "--lazy", place], check=True)


def fill_disk(file: Path) -> None:
    """Write until the disk of a file has no room."""
    with file.open("wb", buffering=0) as opened, suppress(OSError):
        while True:
            opened.write(bytes(4096))


@asynccontextmanager
async def beside(work: Coroutine[Any, Any, _T]) -> AsyncIterator[asyncio.Task[_T]]:
    """Let something go on beside a block; it is cancelled then, whatever came of it."""
    task = asyncio.create_task(work)
    async with tasks_beside([task]):
        yield task


@asynccontextmanager
async def connected(dsn: str, **options: Any) -> AsyncIterator[asyncpg.Connection]:  # noqa: ANN401 (of asyncpg)
    """Give a connection of one's own, as a plain client has."""
    connection = await asyncpg.connect(dsn, **options)
    try:
        yield connection
    finally:
        await connection.close()
