"""Homes for tests that start a real `weft up`."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from up.weft_up import temporary_home


@pytest.fixture
def home() -> Iterator[Path]:
    """Give a home to one test."""
    with temporary_home() as home:
        yield home
