"""The name of a directory of logs: what tells it from one on another host, or of another home."""

import os
import secrets
import tempfile
from contextlib import suppress
from pathlib import Path


def place_name(root: Path) -> str:
    """Return the name of the place; the first caller makes it."""
    file = root / "place"
    try:
        return file.read_text().strip()
    except FileNotFoundError:
        root.mkdir(mode=0o700, parents=True, exist_ok=True)
    handle, fresh = tempfile.mkstemp(prefix=".place.", dir=root)
    try:
        with os.fdopen(handle, "w") as new:
            new.write(secrets.token_hex(16))
        with suppress(FileExistsError):  # somebody was faster
            file.hardlink_to(fresh)
    finally:
        Path(fresh).unlink()
    return file.read_text().strip()
