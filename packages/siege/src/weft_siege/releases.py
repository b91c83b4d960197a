"""Another release of weft, of which roles are for a while: both are at work, on the schema of the
newer one.
"""

import asyncio
import subprocess
import sys
from asyncio.subprocess import Process
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path

from weft.core.errors import Invalid
from weft.settings import outer_environment
from weft.sql import program_schema

_MIGRATE = ("-m", "weft.cli", "db", "migrate")
_PAUSE_S = 0.2
_ASK = (
    "import weft; from weft.sql import program_schema; print(weft.__version__, program_schema())"
)


class Releases:
    """With which python each role is started."""

    def __init__(self, other: Path | None = None) -> None:
        self.begun = 0
        """How many roles of the other release were started."""
        self.version, schema = _release_of(other) if other else ("", 0)
        self.newest = str(other) if schema > program_schema() else sys.executable
        """What runs the release to which the schema is brought: it audits, and so finds that it
        was not.
        """
        self._migration: asyncio.Task[None] | None = None
        self._other = other
        self._rolled_back: set[str] = set()

    def python(self, name: str) -> str:
        """Return what starts a role now."""
        if self._other is None or name not in self._rolled_back:
            return sys.executable
        self.begun += 1
        return str(self._other)

    def bring_schema(self, start: Callable[..., Awaitable[Process]]) -> None:
        """Let the schema become that of a newer release, once, as an upgrade begins: roles of
        ours go on with it.
        """
        if self.newest != sys.executable and self._migration is None:
            self._migration = asyncio.create_task(self._migrate(start))

    async def _migrate(self, start: Callable[..., Awaitable[Process]]) -> None:
        """Repeat it until it is through: PostgreSQL may be killed meanwhile."""
        while True:
            process = await start("migration", {}, self.newest, *_MIGRATE)
            if await process.wait() == 0:
                return
            await asyncio.sleep(_PAUSE_S)

    async def until_brought(self, *, within_s: float) -> None:
        """Wait until the migration is through, if there is one."""
        if self._migration:
            await asyncio.wait([self._migration], timeout=within_s)

    def stop(self) -> None:
        """Begin no migration any more."""
        if self._migration:
            self._migration.cancel()

    def roll_back(self, name: str) -> None:
        """Let a role be one of the other release when it is started again."""
        self._rolled_back.add(name)

    def upgrade(self, name: str) -> bool:
        """Let it be one of ours again; say whether it was not."""
        was = name in self._rolled_back
        self._rolled_back.discard(name)
        return was


def environment_of(python: str, environ: Mapping[str, str]) -> Mapping[str, str]:
    """Return with what a python is started. What `PYTHONPATH` names comes before its packages, and
    may be our weft: a role would be ours unnoticed.
    """
    is_ours = python == sys.executable
    return {name: text for name, text in environ.items() if is_ours or name != "PYTHONPATH"}


def _release_of(python: Path) -> tuple[str, int]:
    """Return the release that a python runs, and its schema."""
    words, said = [str(python), "-P", "-c", _ASK], ""
    try:
        environ = environment_of(words[0], outer_environment())
        answer = subprocess.run(
            words, check=True, capture_output=True, text=True, env=environ, cwd="/"
        )
        version, schema = (said := answer.stdout).split()
        return version, int(schema)
    except (OSError, ValueError, subprocess.CalledProcessError) as error:
        said = said or getattr(error, "stderr", "") or str(error)
    raise Invalid(
        f"{python} is no python with a release of weft",
        detail=said,
        hint="Roles are of that release for a while: make a venv with the previous or next one.",
    )
