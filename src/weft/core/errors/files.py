"""Errors about the files of jobs."""

from weft.core.errors.documents import InvalidDocument
from weft.core.errors.kinds import Conflict, NotFound


class FileNotFound(NotFound):
    """The job has left no such file."""

    code = "API.FILE_NOT_FOUND"


class FileElsewhere(Conflict):
    """The file is kept where the api cannot read it: on another host, or in a store."""

    code = "API.FILE_ELSEWHERE"


class FilesNotReady(InvalidDocument):
    """Files that jobs need are not there, or may not be had or left: `weft submit --check`."""

    code = "API.FILES_NOT_READY"
    fact = "files of jobs are not as they must be"
    advice = "Nothing was submitted. Without `--check` the jobs run, and fail if it is so then."


class FileStoreNotFound(NotFound):
    """The tenant has no store of files of this name."""

    code = "API.FILE_STORE_NOT_FOUND"
    advice = "List them with `weft store ls`; operators add one with `weft store add`."


class TooManyFileStores(Conflict):
    """The tenant has as many stores of files as it may have."""

    code = "API.TOO_MANY_FILE_STORES"
    advice = "Remove one with `weft store rm NAME`."
