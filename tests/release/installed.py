"""weft in a virtual environment of its own."""

import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

from release.pythons import bare_environment, install_environment

INSTALL_S = 600
COMMAND_S = 120
_OFFLINE = re.compile("NewConnectionError|Temporary failure in name resolution|unreachable")


@dataclass(frozen=True)
class Installed:
    """A virtual environment, and a person who works with it."""

    venv: Path
    home: Path

    def pip(self, *words: str) -> None:
        """Install with the index that is configured on this machine."""
        done = subprocess.run(
            [self.venv / "bin" / "pip", "install", "--quiet", "--only-binary", ":all:", *words],
            check=False,
            capture_output=True,
            text=True,
            env=install_environment(),
            timeout=INSTALL_S,
            cwd="/",
        )
        if done.returncode != 0 and _OFFLINE.search(done.stderr):
            pytest.skip("pip reaches no index")
        assert done.returncode == 0, done.stderr

    def python(self, *words: str) -> str:
        """Run the environment's Python; return what it prints."""
        return self._run("python", *words)

    def weft(self, *words: str) -> str:
        """Run a command; return what it prints."""
        return self._run("weft", *words)

    def _run(self, program: str, *words: str) -> str:
        done = subprocess.run(
            [self.venv / "bin" / program, *words],
            check=False,
            capture_output=True,
            text=True,
            stdin=subprocess.DEVNULL,
            env=bare_environment(self.home),
            timeout=COMMAND_S,
            cwd="/",
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout
