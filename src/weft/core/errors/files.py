"""Errors about the files of jobs."""

from weft.core.errors.documents import InvalidDocument
from weft.core.errors.kinds import Conflict, Invalid, NotFound


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


class SecretNotFound(NotFound):
    """The caller has no secret of this name."""

    code = "API.SECRET_NOT_FOUND"
    advice = "List yours with `weft secret ls`; `weft secret set NAME` makes one."


class TooManySecrets(Conflict):
    """The caller has as many secrets as a user may have."""

    code = "API.TOO_MANY_SECRETS"
    sqlstate = "WF132"
    advice = "Remove one with `weft secret rm NAME`."


class SecretUnreadable(Conflict):
    """A secret was changed or moved in the database, or a later release stored it."""

    code = "API.SECRET_UNREADABLE"


class SecretKeyMissing(Conflict):
    """The key that encrypts secrets, or that encrypted one, is not on this host."""

    code = "API.SECRET_KEY_MISSING"
    advice = (
        "Copy secret-keys.json from the home of `weft up`, readable by you alone, or set "
        "WEFT_SECRET_KEYS."
    )


class InvalidApp(Invalid):
    """A folder is no application that can be used."""

    code = "API.INVALID_APP"
    advice = "The guide on applications says what a folder holds."


class AppNotFound(NotFound):
    """There is no application of this name for the caller, or its content is gone."""

    code = "API.APP_NOT_FOUND"
    sqlstate = "WF161"
    advice = "List them with `weft app ls`; `weft app add FOLDER` makes one."


class AppIncomplete(Conflict):
    """Not all parts of an application's folder were sent."""

    code = "API.APP_INCOMPLETE"
    sqlstate = "WF261"
    advice = "Send all parts, then the application again."


class TooManyApps(Conflict):
    """The tenant has as many applications as it may have."""

    code = "API.TOO_MANY_APPS"
    sqlstate = "WF162"
    advice = "Remove one with `weft app rm NAME`."
