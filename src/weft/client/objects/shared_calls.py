"""The part of the client that lists what others have shared."""

from typing import TYPE_CHECKING

from weft.client.api import Api
from weft.client.http.listing import Listing


class SharedCalls:
    """Methods about jobs of others."""

    if TYPE_CHECKING:
        api: Api

    def list_shared_jobs(self) -> Listing:
        """Yield documents of single jobs that were shared with you, those of the newest batches
        first: as of `list_jobs`, with `permission, granted_by, granted_at`.
        """
        return self.api.list_shared_jobs()
