"""What a token looks like."""

import secrets
from typing import Final

TOKEN_BYTES: Final = 32


def new_token() -> str:
    """Return the text of a token that nobody has."""
    return f"weft_{secrets.token_urlsafe(TOKEN_BYTES)}"
