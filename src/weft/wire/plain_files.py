"""Open files that somebody else may have replaced, such as a job of the same account.

What stands in their place is neither followed nor waited for.
"""

import errno
import os
import stat

_FLAGS = os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_NO_PLAIN_FILE = {errno.ELOOP, errno.ENXIO, errno.ENODEV}


def open_plain(path: str | os.PathLike[str], flags: int) -> int:
    """Return a descriptor of a plain file, private if it is made; an `opener` for `open`.

    Raise `FileNotFoundError` for a link, a pipe, a directory or a device.
    """
    try:
        fd = os.open(path, flags | _FLAGS, 0o600)
    except OSError as error:
        if error.errno in _NO_PLAIN_FILE:
            raise _no_plain_file(path) from error
        raise
    if not stat.S_ISREG(os.fstat(fd).st_mode):
        os.close(fd)
        raise _no_plain_file(path)
    return fd


def _no_plain_file(path: str | os.PathLike[str]) -> FileNotFoundError:
    return FileNotFoundError(errno.ENOENT, "it is no plain file", os.fspath(path))
