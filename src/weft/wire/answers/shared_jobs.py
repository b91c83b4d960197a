"""The documents of jobs that were shared, for the description of the API."""

from datetime import datetime

from weft.wire.answers.batches import Job
from weft.wire.documents.permissions import PermissionWord


class SharedJob(Job, kw_only=True):
    """A single job that was shared with the caller, and what they may do with it."""

    permission: PermissionWord
    granted_by: str
    granted_at: datetime
