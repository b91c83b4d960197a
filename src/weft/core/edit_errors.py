"""What may be wrong with a change of what is there."""

from weft.core.errors import Conflict


class RenameTooLarge(Conflict):
    """A new name would change the paths of too many groups."""

    code = "API.RENAME_TOO_LARGE"


class JobEnded(Conflict):
    """A new priority of a job that has ended."""

    code = "API.JOB_ENDED"
