"""Pools from the command line: apply a file, show a pool and what was decided about it."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from e2e.conftest import Weft, lines
from e2e.pool_site import process_pool

pytestmark = pytest.mark.heavy
RACK = ('labels = { rack = "12" }', "price_per_hour = 0.05")
POOLS = process_pool("burst", *RACK, max_workers=0)


@pytest.fixture
def file(weft: Weft, tmp_path: Path) -> Iterator[Path]:
    """Give a file of pools; at the end no pool is described."""
    found = tmp_path / "pools.toml"
    found.write_text(POOLS)
    yield found
    found.write_text("")
    assert weft.run("pool", "apply", str(found), "--yes", "--delete-all").returncode == 0


def test_a_file_of_pools_is_shown_and_applied(weft: Weft, file: Path) -> None:
    planned = weft.run("pool", "apply", str(file), "--dry-run")
    asked = weft.run("pool", "apply", str(file), "--json")
    nothing = weft.run("pool", "show", "burst", "--json")
    applied = weft.run("pool", "apply", str(file), "--yes", "--json")
    again = weft.run("pool", "apply", str(file), "--yes")
    shown = weft.run("pool", "show", "burst").stdout.decode()
    plan = json.loads(weft.run("pool", "show", "burst", "--json").stdout)["plan"]
    log = lines(weft.run("pool", "log", "burst").stdout)

    assert lines(planned.stdout)[:2] == ["+ pool burst", "    provider: process"]
    assert "flavour small: 1 cpu, 1.0 GiB, rack=12, 0.05 per hour" in planned.stdout.decode()
    assert "CLI.NOT_CONFIRMED" in asked.stderr.decode()
    assert "WORKER.POOL_NOT_FOUND" in nothing.stderr.decode()
    assert [one["kind"] for one in json.loads(applied.stdout)["changes"]] == ["create"]
    assert b"the pools are like this already" in again.stderr
    assert "1 cpu, 1.0 GiB, rack=12, 0.05 per hour" in shown
    assert plan["max_workers"] == 0
    assert [line.split("\t")[1] for line in log] == ["Decision", "apply"]


def test_a_mistake_is_named_with_its_place_in_the_file(weft: Weft, file: Path) -> None:
    file.write_text(POOLS.replace("cpu = 1", "cpu = -1"))
    refused = weft.run("pool", "apply", file.name, "--yes", cwd=file.parent)
    file.write_text("[pools]\n")
    other = weft.run("pool", "apply", str(file), "--yes")
    file.write_text("")
    empty = weft.run("pool", "apply", str(file), "--yes")

    assert f"{file.name}:7: pool 'burst', flavour 'small', cpu" in " ".join(
        refused.stderr.decode().split()
    )
    assert "does not describe pools" in other.stderr.decode()
    assert "describes no pools" in empty.stderr.decode()
