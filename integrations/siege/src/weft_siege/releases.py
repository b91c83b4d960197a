"""Another release of weft, to which roles are rolled back for a while: both are at work."""

import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from weft.core.errors import Invalid
from weft.settings import outer_environment
from weft.sql import program_schema

_ASK = (
    "import weft; from weft.sql import program_schema; print(weft.__version__, program_schema())"
)


class Releases:
    """With which python each role is started."""

    def __init__(self, other: Path | None = None) -> None:
        self.begun = 0
        """How many roles of the other release were started."""
        self.version = _version(other) if other else ""
        self._other = other
        self._rolled_back: set[str] = set()

    def python(self, name: str) -> str:
        """Return what starts a role now."""
        if self._other is None or name not in self._rolled_back:
            return sys.executable
        self.begun += 1
        return str(self._other)

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


def _version(python: Path) -> str:
    """Return the release that a python runs; refuse one that our schema does not serve: that
    serves older programs, and newer ones wait for theirs.
    """
    words, said = [str(python), "-P", "-c", _ASK], ""
    try:
        environ = environment_of(words[0], outer_environment())
        answer = subprocess.run(
            words, check=True, capture_output=True, text=True, env=environ, cwd="/"
        )
        version, schema = (said := answer.stdout).split()
        if int(schema) <= program_schema():
            return version
        said = f"It is {version}, for schema {schema}; this weft has schema {program_schema()}."
    except (OSError, ValueError, subprocess.CalledProcessError) as error:
        said = said or getattr(error, "stderr", "") or str(error)
    raise Invalid(
        f"{python} is no python with this release of weft or the previous one",
        detail=said,
        hint="Roles are rolled back to it: make a venv with the previous release, or run the "
        "siege with the newer one of two.",
    )
