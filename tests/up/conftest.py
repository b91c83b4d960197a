"""Homes for tests that start a real `weft up`."""

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from up.weft_up import kill, processes_of


@pytest.fixture
def home() -> Iterator[Path]:
    """Give the path of a home that does not exist yet.

    Not below pytest's own directory: each session of pytest closes that to other users, and the
    database of a root runs as one.
    """
    base = Path(tempfile.mkdtemp(prefix="weft-up-"))
    yield base / "home"
    for found in base.iterdir():
        kill(processes_of(found))
    shutil.rmtree(base, ignore_errors=True)
