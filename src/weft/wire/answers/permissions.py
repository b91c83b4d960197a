"""The answers about what was shared with a caller."""

from datetime import datetime

from weft.wire.answers.jobs import Job
from weft.wire.documents.permissions import PermissionWord


class SharedJob(Job, kw_only=True):
    """A single job that was shared with the caller, and what they may do with it."""

    permission: PermissionWord
    granted_by: str
    granted_at: datetime
