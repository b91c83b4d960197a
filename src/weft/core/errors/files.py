"""Errors about the files of jobs."""

from weft.core.errors.kinds import Conflict, NotFound


class FileNotFound(NotFound):
    """The job has left no such file."""

    code = "API.FILE_NOT_FOUND"


class FileElsewhere(Conflict):
    """The file is kept where the api cannot read it: on another host, or in a store."""

    code = "API.FILE_ELSEWHERE"
