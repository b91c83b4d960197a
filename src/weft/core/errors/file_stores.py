"""Errors about file stores."""

from weft.core.errors.kinds import Conflict, NotFound


class FileStoreNotFound(NotFound, code="API.FILE_STORE_NOT_FOUND"):
    """The tenant has no store of files of this name."""

    advice = "List them with `weft store ls`; operators add one with `weft store add`."


class TooManyFileStores(Conflict, code="API.TOO_MANY_FILE_STORES"):
    """The tenant has as many stores of files as it may have."""

    advice = "Remove one with `weft store rm NAME`."
