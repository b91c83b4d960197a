"""Homes for tests that start a real `weft up`."""

from collections.abc import Iterator
from pathlib import Path

import pytest

import contexts
from contexts import fixture_of, scratch
from up.weft_up import temporary_home

home = fixture_of(temporary_home)
"""A home for one test."""


@pytest.fixture
def small_disk() -> Iterator[Path]:
    """Give a disk of one mebibyte."""
    with scratch("weft-disk-") as place, contexts.small_disk(place, "1m") as disk:
        yield disk
