"""What one attempt has for itself: secrets as files in memory, which go with it, and GPUs."""

import os
import stat
import sys
from pathlib import Path

import cloudpickle
import pytest

from weft.core.states import AttemptKey, Reason
from weft.worker.spawner.scratch import DIRECTORY, MemoryFiles, NoMemoryFileSystem
from worker.calls import Caller
from worker.spawner_process import Agent, SpawnerProcess, process, until

FILES = {"key.pem": "canary-6f1d", "other": "é\n"}


def test_files_are_private_and_go_with_what_the_job_put_beside_them(tmp_path: Path) -> None:
    made = MemoryFiles(str(tmp_path))
    path = Path(made.make("b1.j1.1", FILES))
    modes = [stat.S_IMODE(one.stat().st_mode) for one in (path.parent, path, path / "other")]
    texts = {one.name: one.read_text() for one in path.iterdir()}
    path.chmod(0o700)
    (path / "more" / "deep").mkdir(parents=True)
    (path / "more" / "link").symlink_to("/")
    made.remove(str(path))

    assert modes == [0o700, 0o500, 0o400]
    assert texts == FILES
    assert not path.exists()
    assert path.parent.exists()
    made.close()
    assert not path.parent.exists()


def test_next_spawner_removes_what_one_left_that_was_killed(tmp_path: Path) -> None:
    left = Path(MemoryFiles(str(tmp_path)).make("b1.j1.1", FILES))
    other = MemoryFiles(str(tmp_path / "other"))
    kept = Path(other.make("b1.j1.1", FILES))
    MemoryFiles(str(tmp_path))

    assert not left.parent.exists()
    assert kept.exists()
    other.close()


def test_a_directory_on_a_disk_takes_no_secret(tmp_path: Path) -> None:
    with pytest.raises(NoMemoryFileSystem):
        MemoryFiles(str(tmp_path), str(tmp_path)).make("b1.j1.1", FILES)

    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("way", ["exits", "killed"])
def test_a_job_reads_its_files_until_it_ends(
    plain_spawner: SpawnerProcess, tmp_path: Path, way: str
) -> None:
    is_killed = way == "killed"
    agent = plain_spawner.connect()
    script = f'cat "$WEFT_SECRETS_DIR"/* && echo "$WEFT_SECRETS_DIR" > {tmp_path}/where'
    script += "; sleep 1012" if is_killed else ""
    agent.start(
        process(2, "sh", "-c", '[ -z "$WEFT_SECRETS_DIR" ]'),
        process(1, "sh", "-c", script, memory_files=FILES),
    )
    if is_killed:
        until((tmp_path / "where").exists)
        until(lambda: (tmp_path / "where").read_text().endswith("\n"))
        agent.kill(1, reason=Reason.CANCELLED, grace_ms=0)
    end = agent.until_ended(1)
    where = Path((tmp_path / "where").read_text().strip())

    assert (end.exit_code, end.signal) == ((None, 9) if is_killed else (0, None))
    assert agent.until_ended(2).exit_code == 0
    assert where.name == "weft-b1-j1-a1"
    until(lambda: not where.exists())


def test_no_file_outlives_the_spawner(plain_spawner: SpawnerProcess, tmp_path: Path) -> None:
    agent = plain_spawner.connect()
    wait = f"until [ -e {tmp_path}/end ]; do sleep 0.05; done"
    script = f'echo "$WEFT_SECRETS_DIR" > {tmp_path}/where; {wait}'
    agent.start(process(1, "sh", "-c", script, memory_files=FILES))
    until((tmp_path / "where").exists)
    until(lambda: (tmp_path / "where").read_text().endswith("\n"))
    where = Path((tmp_path / "where").read_text().strip())
    plain_spawner.kill()
    assert where.exists()
    with SpawnerProcess(plain_spawner.root) as again:
        (tmp_path / "end").touch()
        assert not where.parent.exists()
        agent = again.connect()
        agent.begin(process(2, "sleep", "1014", memory_files=FILES))
        agent.quit()
    assert not [one for one in os.listdir(DIRECTORY) if one.startswith(where.parent.name[:22])]  # noqa: PTH208


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
