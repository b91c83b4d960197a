"""The examples of the guide to Python run, and print what it says."""

from pathlib import Path

import pytest

from e2e.conftest import Weft
from e2e.example_page import run_page

pytestmark = pytest.mark.slow
GUIDE = Path(__file__).parents[2] / "docs/guides/python.md"


async def test_the_guide_to_python(weft: Weft, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WEFT_HOME", str(weft.home))

    await run_page(GUIDE, {})
