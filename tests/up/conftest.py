"""Homes for tests that start a real `weft up`."""

import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from contexts import fixture_of
from up.weft_up import temporary_home

home = fixture_of(temporary_home)
"""A home for one test."""


@pytest.fixture
def small_disk() -> Iterator[Path]:
    """Give a disk of one mebibyte."""
    place = Path(tempfile.mkdtemp(prefix="weft-disk-"))
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", place], check=False, capture_output=True
    )
    if mounted.returncode != 0:
        place.rmdir()
        pytest.skip("only root can mount")
    yield place
    subprocess.run(["umount", "--lazy", place], check=True)
    shutil.rmtree(place)
