"""Production lines, in the api's store."""

from weft.ports.store import Caller, Row
from weft.store.database import StorePart
from weft.store.declared import calls, value


class Lines(StorePart):
    """Production lines as they are."""

    @calls(value, limit="limit_rows")
    async def overview_lines(self, caller: Caller, *, limit: int, statuses: bool = True) -> Row:
        """Return how production lines are, as far as the caller sees them: `sources`, `sinks` and
        `statuses`, if they are asked for; of the first two at most `limit`.
        """
