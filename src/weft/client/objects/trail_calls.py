"""The part of the client that reads the trail."""

from datetime import datetime
from typing import TYPE_CHECKING

from weft.client.api import Api
from weft.client.http.listing import Listing


class TrailCalls:
    """Methods that tell who has changed what, when and from where."""

    if TYPE_CHECKING:
        api: Api

    def list_trail(
        self,
        *,
        user: str | None = None,
        action: str | None = None,
        batch: int | None = None,
        number: int | None = None,
        since: datetime | None = None,
        all_tenants: bool = False,
    ) -> Listing:
        """Yield what users of the tenant, or of all, have changed or were refused, newest first,
        for administrators. `action`: such as `cancel_batch`. Raise `RightMissing`.
        """
        return self.api.list_trail(
            user=user,
            action=action,
            batch=batch,
            number=number,
            since=since,
            all_tenants=all_tenants,
        )
