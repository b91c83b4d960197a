"""The whole site, in the api's store."""

from weft.ports.store import Row
from weft.store.database import StorePart
from weft.store.declared import calls, value


class System(StorePart):
    """What runs for all tenants, and on what."""

    @calls(value, limit="limit_rows")
    async def get_system(self, *, limit: int) -> Row:
        """Return `at`, `processes` (at most `limit`, drivers and apis first), `programs` (how many
        processes by role and version), `database`, `audit` (what the last one has found, or None)
        and `driver_settings` (what the leading driver has handed over).

        It reads catalogues and statistics: its cost does not depend on how many jobs there are.
        """
