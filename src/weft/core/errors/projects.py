"""Errors about billing projects."""

from weft.core.errors.kinds import Conflict, NotFound


class ProjectNotFound(NotFound, code="API.PROJECT_NOT_FOUND", sqlstate="WF105"):
    """The billing project does not exist, or the caller is not a member of it."""


class ProjectExists(Conflict, code="API.PROJECT_EXISTS", sqlstate="WF123"):
    """The tenant has or had a billing project of this name, in capitals or not."""


class ProjectOpen(Conflict, code="API.PROJECT_OPEN", sqlstate="WF124"):
    """A billing project that is to be deleted is not closed, or is paused with batches."""


class ProjectClosed(Conflict, code="API.PROJECT_CLOSED", sqlstate="WF125"):
    """A closed billing project takes no new batches."""
