"""The call of the api about the whole site, for those who administer it."""

from typing import Protocol

from weft.ports.store.callers import Row


class SystemStore(Protocol):
    """What runs for all tenants, and on what."""

    async def get_system(self, *, limit: int) -> Row:
        """Return `at`, `processes` (at most `limit`, drivers and apis first), `programs` (how many
        processes by role and version), `database`, `audit` (what the last one has found, or None)
        and `driver_settings` (what the leading driver has handed over).

        It reads catalogues and statistics: its cost does not depend on how many jobs there are.
        """
