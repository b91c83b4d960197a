"""What the names of one gateway have in common in its engine."""

import secrets
from pathlib import Path


def tag_of(state: Path) -> str:
    """Return what this gateway's names have, and no other's: clusters are shared, and batches of
    another database have the same numbers.
    """
    state.mkdir(mode=0o700, parents=True, exist_ok=True)
    path = state / "tag"
    if not path.exists():
        temporary = path.with_name(".tag")
        temporary.write_text(secrets.token_hex(6))
        temporary.replace(path)
    return path.read_text()
