"""Which runner a worker gets."""

from pathlib import Path

import pytest

from weft.plugins.runners.spawner import SpawnerRunner
from weft.run.home import Home
from weft.run.worker import RunnerNotInstalled, make_runner
from weft.settings import Settings


def test_the_spawner_is_the_runner_of_a_worker(tmp_path: Path) -> None:
    runner = make_runner(Settings(home=tmp_path), Home(tmp_path))

    assert isinstance(runner, SpawnerRunner)


def test_runner_that_nobody_brings_is_refused_with_a_way_out(tmp_path: Path) -> None:
    with pytest.raises(RunnerNotInstalled, match="'nowhere' is not installed") as refused:
        make_runner(Settings(home=tmp_path, runner="nowhere"), Home(tmp_path))

    assert "spawner" in refused.value.detail
