"""The testers `path`, passed when a path exists, and `quota`, when its file system has room again:
in a directory in which jobs may let us look.
"""

import os
from collections.abc import Mapping
from pathlib import Path

from weft.core.billing.resources import parse_bytes
from weft.core.ends.conditions import Tested
from weft.core.text.amounts import size
from weft.ports.tester import StillBlocked, TesterSite


def allowed_path(path: str, site: TesterSite) -> Path:
    """Return it after all links. Raise `StillBlocked`, also not telling whether it exists: that is
    a fact about this host.
    """
    real = Path(os.path.realpath(path))
    roots = [Path(os.path.realpath(root)) for root in site.paths]
    if not os.path.isabs(path) or not any(real.is_relative_to(root) for root in roots):  # noqa: PTH117 (beside realpath)
        raise StillBlocked("the path is in no directory of the setting tester_paths")
    return real


class PathTester:
    """Looks at a path on the driver's host. One that hangs, hangs here alone."""

    parameters = ("path",)
    optional = ()

    def test(self, parameters: Mapping[str, str], site: TesterSite) -> Tested:
        """Look once."""
        path = parameters["path"]
        try:
            allowed_path(path, site).stat()
        except OSError as error:
            raise StillBlocked(f"{path}: {error.strerror}") from error
        return Tested(passed=True, message=f"{path} exists")


_FILES_MAX = 10**15


class QuotaTester:
    """Asks the file system of a path, on the driver's host, for its free bytes and files. Where it
    knows a quota of the directory (XFS, ZFS, many servers of NFS), that is what it answers.
    """

    parameters = ("path",)
    optional = ("bytes", "files")

    def test(self, parameters: Mapping[str, str], site: TesterSite) -> Tested:
        """Look once; without an amount any room will do."""
        path = parameters["path"]
        n_bytes, n_files = _bytes(parameters.get("bytes", "1")), _files(parameters.get("files"))
        try:
            found = os.statvfs(allowed_path(path, site))
        except OSError as error:
            raise StillBlocked(f"{path}: {error.strerror}") from error
        free = found.f_bavail * found.f_frsize
        if free < n_bytes:
            raise StillBlocked(f"{path} has {size(free)} free, and {size(n_bytes)} are needed")
        # Some file systems make files as they are needed, and count none.
        if n_files and found.f_files and found.f_favail < n_files:
            raise StillBlocked(
                f"{path} has room for {found.f_favail:,} files, and {n_files:,} are needed"
            )
        return Tested(passed=True, message=f"{path} has {size(free)} free")


def _bytes(text: str) -> int:
    try:
        return parse_bytes(text)
    except ValueError as error:
        raise StillBlocked(f"the parameter bytes is wrong: {error}") from error


def _files(text: str | None) -> int:
    if text is None:
        return 0
    if not (text.isascii() and text.isdecimal()) or int(text[:20]) > _FILES_MAX:
        raise StillBlocked(f"the parameter files is wrong: {text[:40]!r} is not a number of files")
    return int(text)
