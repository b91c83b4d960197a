"""What the worker's composition root passes on."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from weft.cli.input.options import Shared
from weft.cli.input.settings import WorkerOptions, settings_of
from weft.run import worker, worker_source
from weft.run.home import Home
from weft.run.host.gpus import found_gpus, gpus_of
from weft.settings import InvalidSetting, Settings


class Opened(Exception):
    """The store was opened."""


def test_name_of_a_worker_is_taken_as_long_as_its_jobs_may_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A worker of the same name on another host must wait until this one has stopped them."""
    settings = Settings(home=tmp_path, database="postgresql://db/weft", lost_after_s=300)
    asked: list[float] = []

    def open_store(_dsn: str, *, grace_s: float, **_: object) -> Any:  # noqa: ANN401 (never returns)
        asked.append(grace_s)
        raise Opened

    monkeypatch.setattr(worker_source, "open_worker_store", open_store)
    with pytest.raises(Opened):
        asyncio.run(worker._work(settings, "worker", asyncio.Queue()))

    fence_s = worker.fence_of(settings.lost_after_s, str).after_s
    assert fence_s is not None
    assert asked[0] > fence_s


def test_labels_and_slots_of_the_command_line_reach_the_worker(tmp_path: Path) -> None:
    options = WorkerOptions(slots=3, label=("rack=12", "zone=b", "zone=c"))
    settings = settings_of(Shared(home=tmp_path), options)
    facts = worker.facts_of(settings, Home(tmp_path), tmp_path)

    assert facts.slots == facts.offers["slots"] == 3
    assert (facts.offers["rack"], facts.offers["zone"]) == (["12"], ["b", "c"])


@pytest.mark.parametrize("label", ["rack", "gpu=1", "rack=a b"])
def test_wrong_label_is_told(tmp_path: Path, label: str) -> None:
    with pytest.raises(InvalidSetting, match="--label"):
        settings_of(Shared(home=tmp_path), WorkerOptions(label=(label,)))


@pytest.mark.parametrize("field", ["worker_labels", "worker_offers"])
def test_label_of_machines_for_one_job_is_refused(tmp_path: Path, field: str) -> None:
    """Except that of the worker's own machine, with which its provider starts it."""
    settings = Settings(home=tmp_path, worker_name="p-1", **{field: "machine=p-2"})  # type: ignore[arg-type]
    own = Settings(home=tmp_path, worker_name="p-1", worker_labels="machine=p-1")

    with pytest.raises(InvalidSetting, match="the label machine is reserved"):
        worker.facts_of(settings, Home(tmp_path), tmp_path)
    assert worker.facts_of(own, Home(tmp_path), tmp_path).offers["machine"] == ["p-1"]


def test_label_that_is_offered_already_is_refused(tmp_path: Path) -> None:
    settings = Settings(home=tmp_path, worker_offers="zone=a", worker_labels="zone=b")

    with pytest.raises(InvalidSetting, match="both name 'zone'"):
        worker.facts_of(settings, Home(tmp_path), tmp_path)


def test_gpus_of_the_command_line_reach_the_worker(tmp_path: Path) -> None:
    settings = settings_of(Shared(home=tmp_path), WorkerOptions(gpus="GPU-a,GPU-b"))

    assert worker.facts_of(settings, Home(tmp_path), tmp_path).gpu == 2
    assert gpus_of(settings) == ("GPU-a", "GPU-b")


def test_gpus_of_the_host_are_found(tmp_path: Path) -> None:
    for name in ("nvidia10", "nvidia2", "nvidiactl", "null"):
        (tmp_path / name).touch()

    assert found_gpus({}, tmp_path) == ("2", "10")
    assert found_gpus({"CUDA_VISIBLE_DEVICES": "2"}, tmp_path) == ("2",)
    assert found_gpus({"CUDA_VISIBLE_DEVICES": ""}, tmp_path) == ()
    assert found_gpus({"CUDA_VISIBLE_DEVICES": "-1"}, tmp_path) == ()


def test_an_amount_of_gpus_has_ids(tmp_path: Path) -> None:
    assert len(gpus_of(Settings(home=tmp_path, worker_offers="gpu=2"))) == 2
    with pytest.raises(InvalidSetting, match="gpu=2"):
        gpus_of(Settings(home=tmp_path, worker_offers="gpu=2", worker_gpus="0"))
