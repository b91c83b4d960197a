"""A pool of workers on this host grows under load and shrinks when it is idle."""

import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest

from contexts import fixture_of
from e2e.conftest import Weft, weft_up
from e2e.pool_site import process_pool, queue_of
from faults.books import query

pytestmark = [pytest.mark.slow, pytest.mark.heavy]
WITHIN_S = 90
GUIDE = Path(__file__).parents[2] / "docs" / "guides" / "queues-and-pools.md"
QUICKER = {"idle_s = 60": "idle_s = 1", "sleep 5": "sleep 0.2", "pools.toml": "pools.toml --yes"}
"""What the guide has for people: a look at the changes, and time to look at machines."""
own = fixture_of(lambda tmp_path: weft_up(tmp_path / "home", WEFT_AUTOSCALE_S="1"))
"""A server that looks at its pools every second."""


def break_workers(weft: Weft, *pools: str) -> None:
    """Give pools an option with which no worker starts; `weft pool apply` refuses it."""
    query(
        weft.home,
        """UPDATE weft.pool SET plan = jsonb_set(plan, '{options}', '{"slots": "none"}')
        WHERE name = ANY ($1)""",
        pools,
    )


def workers_of(home: Path) -> list[str]:
    """Return the processes of machines of a home."""
    found = subprocess.run(["ps", "axeww"], check=True, capture_output=True).stdout.decode()
    return [
        line
        for line in found.splitlines()
        if "-m weft.run.worker" in line and f"WEFT_HOME={home}" in line and "WEFT_MACHINE=" in line
    ]


def test_a_pool_grows_under_load_and_shrinks(own: Weft, tmp_path: Path) -> None:
    for kind, text in (
        ("pool", process_pool("burst", max_workers=2, idle_s=2)),
        ("queue", queue_of("burst")),
    ):
        file = tmp_path / f"{kind}.toml"
        file.write_text(text)
        assert own.run(kind, "apply", str(file), "--yes").returncode == 0
    each = own.run(
        "each",
        "--queue",
        "burst",
        "--",
        "sh",
        "-c",
        "sleep 0.5; echo {}",
        stdin=b"\n".join(b"%d" % n for n in range(8)),
        timeout_s=WITHIN_S,
    )
    workers = {one["worker"] for one in json.loads(own.run("worker", "ls", "-a", "--json").stdout)}
    own.run("down")

    assert each.returncode == 0, each.stderr.decode()
    assert sorted(each.stdout.split()) == [b"%d" % n for n in range(8)]
    assert 1 <= len({name for name in workers if name.startswith("burst-")}) <= 2
    assert workers_of(own.home) == []


def guide_part(begin: str, end: str) -> str:
    """Return a part of the guide, from one heading to the next of two."""
    text = GUIDE.read_text()
    part = text[text.index(f"\n{begin}\n") : text.index(f"\n{end}\n")]
    for old, new in QUICKER.items():
        part = part.replace(old, new)
    return part


def test_the_guide_grows_a_pool_that_shrinks_again(own: Weft, tmp_path: Path) -> None:
    part = guide_part("## Pools", "## Workers")
    for kind in ("pool", "queue"):
        block = re.search(rf"```toml\n(\[\[{kind}\]\].*?)```", part, re.DOTALL)
        assert block is not None
        (tmp_path / f"{kind}s.toml").write_text(block[1])
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    printed = {}
    for line in re.findall(r"^\$ (.*)$", part, re.MULTILINE):
        done = subprocess.run(
            ["sh", "-c", line],
            check=False,
            capture_output=True,
            cwd=tmp_path,
            env=own.environment({"PATH": path}),
            timeout=WITHIN_S,
        )
        assert done.returncode == 0, (line, done.stderr.decode())
        printed[line] = done.stdout.decode()
    deadline = time.monotonic() + WITHIN_S
    while json.loads(own.run("pool", "show", "burst", "--json").stdout)["machine_list"]:
        assert time.monotonic() < deadline
    (cost,) = json.loads(own.run("pool", "cost", "burst", "--json").stdout)
    log = json.loads(own.run("pool", "log", "burst", "-n", "999", "--json").stdout)

    assert {"weft pool show burst", "weft pool cost burst"} <= printed.keys()
    assert cost["machine_hours"] > 0
    assert {one["kind"] for one in log} == {"apply", "create", "cordon", "delete", "gone"}
