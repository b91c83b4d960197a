"""Examples of Python in the documents run, and print what stands there."""

import os
import re
import shlex
import subprocess
from pathlib import Path

import pytest

from e2e.conftest import Weft
from e2e.example_page import run_page
from up.weft_up import WEFT, temporary_home

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


def test_tutorial_prints_what_stands_there() -> None:
    page, end = (ROOT / "docs/guides/tutorial.md").read_text(), "@end"
    with temporary_home() as home:
        script, expected = "", []
        for command, text in commands_of(page.replace("/tmp/weft-tutorial", str(home.parent))):
            is_file = "<<" in command
            script += f"{command}\n{text if is_file else ''}s=$?; echo {end}; (exit $s)\n"
            expected.append("" if is_file else text)
        environ = {**os.environ, "PATH": f"{WEFT.parent}:{os.environ['PATH']}"}
        told = subprocess.check_output(["bash", "-c", script], env=environ, text=True)

    for wanted, printed in zip(expected, told.split(f"{end}\n"), strict=False):
        assert figureless(printed).startswith(figureless(wanted)), script


def figureless(text: str) -> str:
    """Return a text whose numbers, which depend on the release of Python, are all alike."""
    return re.sub(r"\d\d+", "N", text)


def commands_of(page: str) -> list[tuple[str, str]]:
    """Return the commands in blocks of a page, each with what is printed below it."""
    blocks = re.findall(r"^```console\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    parts = [part for block in blocks for part in re.split(r"^\$ ", block, flags=re.MULTILINE)]
    return [(command, text) for command, _, text in (one.partition("\n") for one in parts if one)]
