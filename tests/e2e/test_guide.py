"""Examples of Python in the documents run, and print what stands there."""

from pathlib import Path

import pytest

from e2e.conftest import Weft
from e2e.example_page import run_page

pytestmark = pytest.mark.slow
ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(
    "page", ["docs/guides/python.md", "docs/guides/functions.md", "README.md"]
)
async def test_pages_with_examples(weft: Weft, monkeypatch: pytest.MonkeyPatch, page: str) -> None:
    monkeypatch.setenv("WEFT_HOME", str(weft.home))

    await run_page(ROOT / page, {})
