"""Errors about the files of jobs."""

from weft.core.errors.documents import InvalidDocument
from weft.core.errors.kinds import Conflict, NotFound


class FileNotFound(NotFound, code="API.FILE_NOT_FOUND"):
    """The job has left no such file."""


class FileElsewhere(Conflict, code="API.FILE_ELSEWHERE"):
    """The file is kept where the api cannot read it: on another host, or in a store."""


class FilesNotReady(InvalidDocument, code="API.FILES_NOT_READY"):
    """Files that jobs need are not there, or may not be had or left: `weft submit --check`."""

    fact = "files of jobs are not as they must be"
    advice = "Nothing was submitted. Without `--check` the jobs run, and fail if it is so then."
