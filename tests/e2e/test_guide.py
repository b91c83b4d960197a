"""Examples of Python in the documents run, and print what stands there."""

import re
import shlex
from pathlib import Path

import pytest

from e2e.conftest import Weft
from e2e.example_page import run_page

pytestmark = pytest.mark.heavy
ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(
    "page",
    ["docs/guides/python.md", "docs/guides/functions.md", "docs/guides/schedules.md", "README.md"],
)
async def test_pages_with_examples(weft: Weft, monkeypatch: pytest.MonkeyPatch, page: str) -> None:
    monkeypatch.setenv("WEFT_HOME", str(weft.home))

    await run_page(ROOT / page, {})


def test_commands_about_schedules(weft: Weft, tmp_path: Path) -> None:
    """Each one runs, in order; the schedule has another number here."""
    added = ""
    for command, text in commands_of((ROOT / "docs/guides/schedules.md").read_text()):
        words = [added if word == "s1" else word for word in shlex.split(command)]
        if words[0] == "cat":
            (tmp_path / words[1]).write_text(text)
            continue
        done = weft.run(*words[1:], cwd=tmp_path)
        assert done.returncode == 0, (command, done.stderr)
        added = added or done.stdout.decode().strip()

    assert added.startswith("s")


def commands_of(page: str) -> list[tuple[str, str]]:
    """Return the commands in blocks of a page, each with what is printed below it."""
    blocks = re.findall(r"^```console\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    parts = [part for block in blocks for part in re.split(r"^\$ ", block, flags=re.MULTILINE)]
    return [(command, text) for command, _, text in (one.partition("\n") for one in parts if one)]
