"""Pools, from what is known of workers and queues."""

from pathlib import Path
from typing import Any

import pytest

from cases import cases
from weft.cli.app import run_command
from weft.cli.commands.pool import pools_of
from weft.client.api import Api
from weft.core.errors import FieldError, Invalid


@cases("is_refused", [True, False])
def test_a_mistake_names_the_file_and_a_maximum_below_what_runs_is_told(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    *,
    is_refused: bool,
) -> None:
    async def save(*_: object, dry_run: bool = False) -> dict[str, Any]:
        if is_refused:
            raise Invalid("bad", errors=[FieldError("/pools/0/max_workers", "too many")])
        surplus = [{"pool": "burst", "n_machines": 4, "max_workers": 1}]
        change = {"kind": "change", "pool": "burst", "fields": {"max_workers": [4, 1]}}
        return {"changes": [change], "surplus": surplus, "dry_run": dry_run}

    monkeypatch.setattr(Api, "save_pools", save)
    file = tmp_path / "pools.toml"
    file.write_text('[[pool]]\nname = "burst"\nmax_workers = 7\n')

    assert (run_command(["pool", "apply", str(file), "--yes"]) != 0) == is_refused
    told = " ".join(capsys.readouterr().err.split())
    surplus = "pool burst has 4 machines, 3 more than its new maximum"
    wrong = f"{file}:3: pool 'burst', max_workers: too many"
    assert (wrong if is_refused else surplus) in told


def worker(pool: str, state: str = "active", **more: object) -> dict[str, Any]:
    return {"pool": pool, "state": state, "cpu": 2.0, "memory": 2**30, "n_running": 1, **more}


def test_pools_have_the_sums_of_their_live_workers_and_their_queues() -> None:
    workers = [
        worker("a"),
        worker("a", "draining"),
        worker("a", "lost"),
        worker("b", n_running=None),
        worker("c", slots=10_000, memory=2**20),  # simulates: nothing of a machine
    ]
    queues = [{"name": "short", "pools": ["b", "a"]}, {"name": "default", "pools": ["default"]}]

    pools: list[dict[str, Any]] = [
        {"pool": "b", "plan": {"max_workers": 4}, "machines": {"active": 1, "creating": 2}},
        {"pool": "lonely", "plan": {"max_workers": 0}, "machines": {}},
        {"pool": "old", "plan": None, "machines": {}},
    ]
    none = {"n_machines": 0, "max_workers": 0}

    assert pools_of(workers, queues, pools) == [
        {
            "pool": "a",
            "n_workers": 2,
            **none,
            "cpu": 4.0,
            "memory": 2**31,
            "n_running": 2,
            "queues": ["short"],
        },
        {
            "pool": "b",
            "n_workers": 1,
            "n_machines": 3,
            "max_workers": 4,
            "cpu": 2.0,
            "memory": 2**30,
            "n_running": 0,
            "queues": ["short"],
        },
        {"pool": "c", "n_workers": 1, **none, "cpu": 0, "memory": 0, "n_running": 1, "queues": []},
        {
            "pool": "default",
            "n_workers": 0,
            **none,
            "cpu": 0,
            "memory": 0,
            "n_running": 0,
            "queues": ["default"],
        },
        {
            "pool": "lonely",
            "n_workers": 0,
            **none,
            "cpu": 0,
            "memory": 0,
            "n_running": 0,
            "queues": [],
        },
    ]
