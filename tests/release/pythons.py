"""The Pythons of this machine, and virtual environments made with them."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

_ALIVE = "import sys, {}; print('%d.%d' % sys.version_info[:2])"


@cache
def python_of(version: str, *modules: str) -> str | None:
    """Return a program that is this version (`3.12`), can make virtual environments and has these
    modules.
    """
    alive = _ALIVE.format(", ".join(("venv", "ensurepip", *modules)))
    for candidate in _candidates(version):
        try:
            done = subprocess.run(
                [candidate, "-c", alive], check=False, capture_output=True, text=True, timeout=60
            )
        except OSError:
            continue
        if done.returncode == 0 and done.stdout.strip() == version:
            return candidate
    return None


def _candidates(version: str) -> Iterator[str]:
    yield str(Path(sys.base_prefix, "bin", f"python{version}"))
    found = shutil.which(f"python{version}")
    if found is not None:
        yield found
    pyenv = Path(os.environ.get("PYENV_ROOT", "~/.pyenv")).expanduser()
    yield from map(str, sorted(pyenv.glob(f"versions/{version}*/bin/python")))


def bare_environment(home: Path) -> dict[str, str]:
    """Return the environment of somebody who has just logged in."""
    return {"PATH": os.defpath, "HOME": str(home), "LANG": "C.UTF-8", "TERM": "dumb"}


def install_environment() -> dict[str, str]:
    """Return what pip may know: how this machine reaches an index, and no compiler."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    return {**kept, "CC": "false", "CXX": "false", "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
