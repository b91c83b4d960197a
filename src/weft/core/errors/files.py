"""Errors about the files of jobs."""

from weft.core.errors.documents import InvalidDocument
from weft.core.errors.kinds import Conflict, Invalid, NotFound


class FileNotFound(NotFound, code="API.FILE_NOT_FOUND"):
    """The job has left no such file."""


class FileElsewhere(Conflict, code="API.FILE_ELSEWHERE"):
    """The file is kept where the api cannot read it: on another host, or in a store."""


class FilesNotReady(InvalidDocument, code="API.FILES_NOT_READY"):
    """Files that jobs need are not there, or may not be had or left: `weft submit --check`."""

    fact = "files of jobs are not as they must be"
    advice = "Nothing was submitted. Without `--check` the jobs run, and fail if it is so then."


class FileStoreNotFound(NotFound, code="API.FILE_STORE_NOT_FOUND"):
    """The tenant has no store of files of this name."""

    advice = "List them with `weft store ls`; operators add one with `weft store add`."


class TooManyFileStores(Conflict, code="API.TOO_MANY_FILE_STORES"):
    """The tenant has as many stores of files as it may have."""

    advice = "Remove one with `weft store rm NAME`."


class SecretNotFound(NotFound, code="API.SECRET_NOT_FOUND"):
    """The caller has no secret of this name."""

    advice = "List yours with `weft secret ls`; `weft secret set NAME` makes one."


class TooManySecrets(Conflict, code="API.TOO_MANY_SECRETS", sqlstate="WF132"):
    """The caller has as many secrets as a user may have."""

    advice = "Remove one with `weft secret rm NAME`."


class SecretUnreadable(Conflict, code="API.SECRET_UNREADABLE"):
    """A secret was changed or moved in the database, or a later release stored it."""


class SecretKeyMissing(Conflict, code="API.SECRET_KEY_MISSING"):
    """The key that encrypts secrets, or that encrypted one, is not on this host."""

    advice = (
        "Copy secret-keys.json from the home of `weft up`, readable by you alone, or set "
        "WEFT_SECRET_KEYS."
    )


class InvalidApp(Invalid, code="API.INVALID_APP"):
    """A folder is no application that can be used."""

    advice = "The guide on applications says what a folder holds."


class AppNotFound(NotFound, code="API.APP_NOT_FOUND", sqlstate="WF161"):
    """There is no application of this name for the caller, or its content is gone."""

    advice = "List them with `weft app ls`; `weft app add FOLDER` makes one."


class AppIncomplete(Conflict, code="API.APP_INCOMPLETE", sqlstate="WF261"):
    """Not all parts of an application's folder were sent."""

    advice = "Send all parts, then the application again."


class TooManyApps(Conflict, code="API.TOO_MANY_APPS", sqlstate="WF162"):
    """The tenant has as many applications as it may have."""

    advice = "Remove one with `weft app rm NAME`."
