"""docs/guides/production-lines.md does what it says, typed as it stands there."""

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from e2e.conftest import Weft, items, until

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]
GUIDE = Path(__file__).parents[2] / "docs/guides/production-lines.md"


@pytest.fixture
def guided(tmp_path: Path) -> Iterator[Weft]:
    """Give a home whose weft the guide starts."""
    weft = Weft(tmp_path / "home")
    yield weft
    weft.run("down")


@pytest.mark.heavy
def test_commands_of_the_guide(guided: Weft, tmp_path: Path) -> None:
    (tmp_path / "weft").write_text(f'#!/bin/sh\nexec {sys.executable} -m weft.cli "$@"\n')
    (tmp_path / "weft").chmod(0o700)
    page = GUIDE.read_text().replace("weft up", "weft up --port 0")
    blocks = re.findall(r"^```console\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    # Sinks need somebody who listens: tests/e2e/test_lines.py. Crates: tests/e2e/test_crate.py.
    first, apply, look, refused, lines, parameters, change, products = [
        one for one in blocks if "deliver" not in one and "export crate" not in one
    ]
    setting = {
        "WEFT_SOURCE_PATHS": str(tmp_path / "incoming"),
        "PATH": f"{tmp_path}:/usr/bin:/bin",
    }

    def typed(block: str) -> str:
        script = re.sub(r"^\$ ", "", block, flags=re.MULTILINE)
        return run_script(guided, script, tmp_path, setting)

    typed(first)
    typed(apply)
    until(lambda: items(guided) == {"S2A_32TLR": "b1.j1"})
    until(lambda: b'"state":"success"' in guided.run("status", "b1.j1", "--json").stdout)
    said = typed(look)
    assert re.search(r"^scenes\tdirectory\tactive\t", said, re.MULTILINE)
    assert re.search(r"^S2A_32TLR\tb1.j1\tjob\t", said, re.MULTILINE)
    assert '"tile":"32TLR"' in said
    statuses = re.findall(r"\t(initialized|ready|started|done)$", said, re.MULTILINE)
    # The first is the present one, of the job.
    assert statuses[-4:] == ["initialized", "ready", "started", "done"]

    (tmp_path / "incoming" / "bad.json").write_text("{")
    until(lambda: items(guided).get("bad") == "refused")
    assert "it is not JSON" in typed(refused)
    (tmp_path / "incoming" / "bad.json").write_text("{}")
    until(lambda: items(guided).get("bad") == "b1.j2")

    assert re.search(r"^scenes\tdirectory\tactive\t", typed(lines), re.MULTILINE)

    said = typed(parameters)
    shown = re.findall(r"^clouds_max\t50\t1\tinteger\t", said, re.MULTILINE)
    assert len(shown) == 2  # by `get` and by `history`

    why, pause, resume, again, since, remove = [f"$ {one}" for one in change.split("$ ")[1:]]
    for one in (why, pause, resume, again):
        typed(one)
    until(lambda: items(guided) == {"S2A_32TLR": "b1.j3", "bad": "b1.j2"})
    typed(since.replace("2027-01-01", "2020-01-01 --yes"))
    until(lambda: sorted(items(guided).values()) == ["b1.j4", "b1.j5"])
    typed(remove)
    said = typed(products)
    assert re.search(r'^1\t\{.*"tile": "32TLR"', said, re.MULTILINE)
    assert json.loads(guided.run("products", "--json").stdout) == []
    assert b"does not exist" in guided.run("source", "items", "scenes").stderr


def run_script(weft: Weft, script: str, cwd: Path, env: dict[str, str]) -> str:
    """Run commands as a person types them; return what they print."""
    done = subprocess.run(
        ["bash", "-ec", script],
        check=False,
        timeout=100,
        cwd=cwd,
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
        env=weft.environment(env),
    )
    assert done.returncode == 0, (script, done.stdout, done.stderr)
    return done.stdout
