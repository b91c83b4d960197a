"""What a user may do with a batch of somebody else."""

from enum import IntEnum


class Permission(IntEnum):
    """Each includes those before it. The numbers are those of the database."""

    READ = 1
    """See the batch and all that belongs to it."""
    EXECUTE = 2
    """Act on its jobs: cancel, hold, release, retry, send a signal."""
    WRITE = 3
    """Change it: edit it, add jobs, hide and delete it."""
    ALL = 4
    """Share it."""

    @property
    def word(self) -> str:
        """The name in documents and on the command line."""
        return self.name.lower()
