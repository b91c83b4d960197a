"""Jobs in a sandbox see and change nothing that is not theirs, and end as others do."""

import os
import shutil
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from weft.core.errors import WeftError
from weft.core.states import Reason
from weft.plugins.executors.function import FunctionExecutor
from weft.plugins.runners.spawner.outgoing import Outgoing
from weft.plugins.runners.spawner.sandbox import NoSandbox, find_sandbox, sandbox_words
from weft.ports.executor import ExecutorLimits
from weft.ports.runner import Assignment
from weft.wire.spawner import Command
from weft.wire.spec import FunctionSpec, JobSpec
from worker.spawner_process import Agent, SpawnerProcess, key_of, process

needs_bubblewrap = pytest.mark.skipif(
    not find_sandbox(Path("/nowhere")).words, reason="this machine makes no sandboxes"
)


@pytest.fixture
def root(tmp_path: Path) -> Iterator[Path]:
    """Return a home outside of `/tmp`, as a rule homes are."""
    path = Path("/var/lib") if os.access("/var/lib", os.W_OK) else tmp_path
    path = path / f"weft-test-{os.getpid()}"
    path.mkdir(mode=0o700)
    yield path
    shutil.rmtree(path)


def until(is_so: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 20
    while not is_so():
        assert time.monotonic() < deadline


class Sandboxed:
    """A spawner whose home is hidden from its jobs."""

    def __init__(self, spawner: SpawnerProcess, agent: Agent) -> None:
        self.spawner = spawner
        self.agent = agent
        self._count = 0

    def run(
        self, script: str, *, network: bool = True, paths: tuple[Path, ...] = ()
    ) -> tuple[int | None, str]:
        """Run a script in a directory of its own; return its exit code and output."""
        self._count += 1
        end = self.agent.run(
            "sh", "-c", script, job_id=self._count, cwd=None,
            sandbox=self.words(network=network, paths=paths),
        )  # fmt: skip
        return end.exit_code, self.agent.output(end)[0].decode()

    def words(self, *, network: bool = True, paths: tuple[Path, ...] = ()) -> tuple[str, ...]:
        return sandbox_words(self.spawner.root, network=network, paths=[*map(str, paths)])


@pytest.fixture
def sandboxed(root: Path) -> Iterator[Sandboxed]:
    spawner = SpawnerProcess(root)
    yield Sandboxed(spawner, spawner.connect())
    spawner.stop()


@needs_bubblewrap
def test_nothing_of_weft_is_seen_and_nothing_else_is_changed(
    sandboxed: Sandboxed, root: Path, tmp_path: Path
) -> None:
    (root / "key").write_text("canary")
    outside = root.parent / f"{root.name}-outside"
    (tmp_path / "other").touch()
    look = (
        f"ls -d {root}/* {tmp_path} | grep -v 'scratch\\|checkpoints'",
        f"cat {root}/key {root}/lock", f"touch {outside}", "ls -d /proc/[0-9]* | wc -l",
        "cat /proc/[0-9]*/environ | tr '\\0' '\\n' | grep ^WEFT_JOB= | sort -u", "echo $TMPDIR",
    )  # fmt: skip
    seen = sandboxed.run("; ".join(look))
    own = sandboxed.run(
        'touch here "$TMPDIR/there" "$WEFT_CHECKPOINT_DIR/kept" && pwd && '
        'ls "$PWD" "$TMPDIR" "$WEFT_CHECKPOINT_DIR" | grep -cE "here|there|kept"'
    )
    n_processes, temporary = seen[1].splitlines()

    assert temporary == "/tmp"
    assert int(n_processes) < 8
    assert own[0] == 0, own
    assert own[1].splitlines()[-1] == "3"
    assert not outside.exists()
    assert not list(tmp_path.glob("there"))
    assert (sandboxed.spawner.checkpoints / "kept" / "b1.j2" / "kept").exists()


@needs_bubblewrap
def test_network_and_paths_are_as_the_settings_say(sandboxed: Sandboxed, root: Path) -> None:
    shared = root.parent / f"{root.name}-shared"
    shared.mkdir()
    try:
        count = "cat /proc/net/dev | grep -vc -e '|' -e lo:"
        with_network, without = (sandboxed.run(count, network=one) for one in (True, False))
        written = sandboxed.run(f"touch {shared}/made", paths=(shared,))
        refused = sandboxed.run(f"touch {shared}/not")
        hidden = sandboxed.run(f"ls {root}/s.lock", paths=(root.parent,))
        there = [one.name for one in shared.iterdir()]
    finally:
        shutil.rmtree(shared)

    assert int(with_network[1]) > 0
    assert without[1] == "0\n"
    assert (written[0], refused[0] != 0, there) == (0, True, ["made"])
    assert hidden[0] != 0


@needs_bubblewrap
def test_a_sandboxed_job_ends_as_others_do(sandboxed: Sandboxed, tmp_path: Path) -> None:
    """It hears of its end, may clean up, and its exit code is its own."""
    told = tmp_path / "told"
    told.mkdir()
    agent, words = sandboxed.agent, sandboxed.words(paths=(told,))
    trap = f"trap 'echo cleaned; exit 5' TERM; trap 'touch {told}/heard' USR1; touch {told}/up; "
    loop = "while :; do sleep 0.05; done"
    deaf = f"trap '' TERM; touch {told}/deaf; {loop}"
    agent.start(process(11, "sh", "-c", trap + loop, sandbox=words, cwd=None))
    agent.start(process(12, "sh", "-c", deaf, sandbox=words, cwd=None))
    agent.start(process(13, "sh", "-c", "kill -9 $$", sandbox=words, cwd=None))
    until((told / "up").exists)
    until((told / "deaf").exists)
    agent.send(Command(1, key_of(11), signal.SIGUSR1))
    until((told / "heard").exists)
    agent.kill(11, 12, reason=Reason.CANCELLED, grace_ms=2000)
    cleaned, killed, by_itself = (agent.until_ended(one) for one in (11, 12, 13))

    assert (cleaned.exit_code, cleaned.killed_for) == (5, Reason.CANCELLED)
    assert agent.output(cleaned)[0].splitlines()[-1] == b"cleaned"
    assert killed.signal == signal.SIGKILL
    assert by_itself.exit_code == 128 + signal.SIGKILL
    assert agent.output(by_itself)[1] == b""


@needs_bubblewrap
def test_time_and_memory_of_a_sandboxed_job_are_counted(sandboxed: Sandboxed) -> None:
    burn = "i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done"
    end = sandboxed.agent.run("sh", "-c", burn, job_id=21, sandbox=sandboxed.words(), cwd=None)

    assert end.exit_code == 0
    assert end.cpu_ms >= 20


def test_no_function_runs_beside_sandboxes() -> None:
    limits = ExecutorLimits(
        grace_ms=1, stream_bytes_max=1, stream_head_bytes=1, sandbox=("bwrap",)
    )
    outgoing = Outgoing(lambda _: None, {"function": FunctionExecutor()}, limits)
    spec = JobSpec(function=FunctionSpec(call="math:gcd"), executor="function")

    with pytest.raises(WeftError, match="sandboxes"):
        outgoing.add(Assignment(key_of(1), spec, 1000, 1, (1, 1)))


def test_a_machine_without_bubblewrap_is_told(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "bwrap").write_text("#!/bin/sh\necho no namespaces >&2; exit 1\n")
    (tmp_path / "bwrap").chmod(0o700)
    reasons = []
    for path in ("/nowhere", str(tmp_path)):
        monkeypatch.setenv("PATH", path)
        with pytest.raises(NoSandbox) as error:
            sandbox_words(tmp_path, network=True, paths=())
        reasons.append(error.value.detail)

    assert reasons == ["The program `bwrap` is missing.", "No namespaces."]
