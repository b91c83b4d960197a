"""Queries that the user has saved: `@NAME` stands for one."""

import re
from typing import Final

from weft.client.api import Api

SAVED: Final = re.compile(r"@([A-Za-z][A-Za-z0-9_.-]{0,62})")


async def query_of(client: Api, text: str) -> str:
    """Return a query as it is, or the one that was saved as `@NAME`."""
    if saved := SAVED.fullmatch(text):
        return str((await client.get_saved_query(saved[1]))["query"])
    return text
