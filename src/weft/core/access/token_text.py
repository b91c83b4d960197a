"""What a token looks like.

Idempotency keys of requests that came through a door: kept after its name and a blank, which no
client of weft can send in a key, so that no two wires share any.
"""

import secrets
from typing import Final

TOKEN_BYTES: Final = 32


def new_token() -> str:
    """Return the text of a token that nobody has."""
    return f"weft_{secrets.token_urlsafe(TOKEN_BYTES)}"


def stored_key(door: str, key: str) -> str:
    """Return what is stored for a key that a client of this door has sent."""
    return f"{door} {key}"


def sent_key(door: str, stored: str) -> str:
    """Return what the client has sent; a key that came another way as it is."""
    return stored.removeprefix(f"{door} ")
