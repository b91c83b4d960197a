"""Ids of GPUs: each belongs to one attempt at a time, whichever agent comes."""

import os
import sys
from pathlib import Path

import cloudpickle
import pytest

from weft.core.states import AttemptKey, Reason
from worker.calls import Caller
from worker.spawner_process import Agent, SpawnerProcess, process

cloudpickle.register_pickle_by_value(sys.modules[__name__])
SHOW = ("/bin/sh", "-c", 'echo "$WEFT_GPUS $CUDA_VISIBLE_DEVICES"')
WAIT = ("/bin/sh", "-c", f"{SHOW[2]}; read line < $FIFO")


def shown(agent: Agent, job_id: int) -> str:
    return agent.output(agent.until_ended(job_id))[0].decode().strip()


def test_running_attempts_keep_their_ids_when_another_agent_comes(
    plain_spawner: SpawnerProcess, tmp_path: Path
) -> None:
    fifos = {n: tmp_path / f"fifo{n}" for n in (1, 2)}
    for fifo in fifos.values():
        os.mkfifo(fifo)
    first = plain_spawner.connect(gpus=("a", "b"))
    first.start(
        *(process(n, *WAIT, gpu=1, cpu_m=1, env={"FIFO": str(fifo)}) for n, fifo in fifos.items())
    )
    first.until_started(1)
    first.until_started(2)
    first.close()
    second = plain_spawner.connect(gpus=("a", "b", "c"))
    second.start(process(3, *SHOW, gpu=1, cpu_m=1), process(4, *SHOW, gpu=2, cpu_m=1))
    fifos[2].write_text("\n")
    third = shown(second, 3)
    fifos[1].write_text("\n")

    assert (shown(second, 1), shown(second, 2), third) == ("a a", "b b", "b b")
    assert shown(second, 4) == "a,b a,b"


def test_a_job_that_asks_for_none_sees_none(plain_spawner: SpawnerProcess) -> None:
    agent = plain_spawner.connect(gpus=("a",))
    own = {"CUDA_VISIBLE_DEVICES": "a"}
    agent.start(process(1, *SHOW, env=own), process(2, *SHOW, env=own, gpu=1))

    assert (shown(agent, 1), shown(agent, 2)) == ("", "a a")


def test_a_worker_without_gpus_leaves_the_variable_alone(plain_spawner: SpawnerProcess) -> None:
    agent = plain_spawner.connect()
    agent.start(process(1, *SHOW, env={"CUDA_VISIBLE_DEVICES": "a"}))

    assert shown(agent, 1) == "a"


def test_a_job_does_not_run_with_fewer_than_it_asks_for(plain_spawner: SpawnerProcess) -> None:
    agent = plain_spawner.connect(gpus=("a",))
    agent.start(process(1, *SHOW, gpu=2), process(2, *SHOW, gpu=1))
    ended = agent.until_ended(1)

    assert (ended.failure, ended.started_ns) == (Reason.SYSTEM, 0)
    assert "fewer GPUs" in ended.message
    assert shown(agent, 2) == "a a"


@pytest.mark.slow
def test_a_process_that_had_a_gpu_serves_no_other_call(plain_spawner: SpawnerProcess) -> None:
    agent = plain_spawner.connect(gpus=("a", "b"))
    caller = Caller(agent, plain_spawner.logs)
    found = []
    for job_id, gpu in ((1, 1), (2, 1), (3, 0), (4, 0)):
        found.append(caller.call(AttemptKey(1, job_id, 1), who, gpu=gpu))
    pids = [pid for pid, _ in found]

    assert [ids for _, ids in found] == ["a", "a", "", ""]
    assert len(set(pids)) == 3
    assert pids[2] == pids[3]


def who() -> tuple[int, str | None]:
    return os.getpid(), os.environ.get("CUDA_VISIBLE_DEVICES")
