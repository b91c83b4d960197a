"""Paths that a job named, in a directory in which jobs may let us look."""

import os
from pathlib import Path

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
