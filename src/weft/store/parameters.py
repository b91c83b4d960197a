"""The parameters of production lines, in the api's store."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from weft.core.access.rights import Right
from weft.ports.store import Caller, Row
from weft.store.database import StorePart
from weft.store.declared import actor, calls, documents, value


class Parameters(StorePart):
    """Parameters of a tenant. A row has `parameter`, `version`, `type`, `value`, `set_at`,
    `set_by`, `setup`.
    """

    @calls(
        value,
        name="of_name",
        actor=actor,
        by_user=lambda caller: None if caller.may(Right.MANAGE) else caller.user_id,
    )
    async def set_parameter(
        self,
        caller: Caller,
        name: str,
        value: Any,  # noqa: ANN401 (JSON)
        of_type: str | None,
    ) -> Row:
        """Give it a value from now on; return it. The same value again is no new version. Raise
        `ParameterOfOtherType`, and `RightMissing` if it chooses what a source of others runs.
        """

    @calls(documents, limit="limit_rows")
    async def list_parameters(
        self,
        caller: Caller,
        *,
        names: Sequence[str] | None,
        as_of: datetime | None,
        after: str,
        limit: int,
    ) -> Sequence[Row]:
        """Return a page of the parameters, or of these, in the order of their names, as they were
        at a date; None: as they are.
        """

    @calls(documents, name="of_name", limit="limit_rows")
    async def list_versions(
        self, caller: Caller, name: str, *, before: int | None, limit: int
    ) -> Sequence[Row]:
        """Return a page of its versions, the newest first. Raise `ParameterNotFound`."""
