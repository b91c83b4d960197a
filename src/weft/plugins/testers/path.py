"""The tester `path`: passed when a path exists, in a directory in which jobs may let us look. And
those directories.
"""

import os
from collections.abc import Mapping
from pathlib import Path

from weft.core.ends.conditions import Tested
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
