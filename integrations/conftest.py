"""What the tests of all packages have: a real weft."""

from e2e.conftest import weft

__all__ = ["weft"]
