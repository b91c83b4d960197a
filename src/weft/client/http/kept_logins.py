"""The tokens that `weft login` has got, in the home, one file for each server (0600). They are
read here; the command line writes them.
"""

import json
from pathlib import Path
from typing import NamedTuple


class KeptLogin(NamedTuple):
    """A token for one server."""

    token: str
    token_id: int


def login_file(home: Path, url: str) -> Path:
    """Return where the login at a server is kept."""
    import hashlib  # noqa: PLC0415 (2 ms, and most ask the server of their home)

    return home / "logins" / f"{hashlib.sha256(url.encode()).hexdigest()[:32]}.json"


def kept_login(home: Path, url: str) -> KeptLogin | None:
    """Return the login at a server; None: there is none, or nothing that can be read. Whether its
    token is still good, the server says.
    """
    try:
        stored = json.loads(login_file(home, url).read_bytes())
        found = KeptLogin(str(stored["token"]), int(stored["token_id"]))
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None
    is_usable = found.token.isascii() and found.token.isprintable()
    return found if is_usable and stored.get("url") == url else None
