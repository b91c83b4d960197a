"""Jobs in a sandbox see and change nothing that is not theirs, and end as others do."""

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from weft.core.errors import WeftError
from weft.core.states import Reason
from weft.plugins.executors.function.executor import FunctionExecutor
from weft.plugins.runners.spawner.outgoing import Outgoing
from weft.plugins.runners.spawner.sandbox import NoSandbox, sandbox_words
from weft.ports.executor import ExecutorLimits
from weft.ports.runner import Assignment
from weft.wire.spawner import Command
from weft.wire.spec import FunctionSpec, JobSpec
from worker.spawner_process import PATH, Agent, SpawnerProcess, key_of, process, until

PLAIN_USER = 65534 if os.geteuid() == 0 else None
"""As whom root runs the spawner here: jobs of root get no sandbox."""
BECOME_PLAIN = (
    "import ctypes, os, sys\n"
    f"user = {PLAIN_USER}\n"
    "if user is not None:\n"
    "    os.setgroups([]); os.setresgid(user, user, user); os.setresuid(user, user, user)\n"
    "    ctypes.CDLL(None).prctl(4, 1)\n"  # PR_SET_DUMPABLE: its own /proc is its own again
)
"""Run after the imports, because the plain user may not be able to read this Python."""
SPAWNER = (
    f"from weft.worker.spawner.__main__ import main\n{BECOME_PLAIN}sys.exit(main(sys.argv[1:]))"
)


def words_of(
    home: Path, *, network: bool = True, paths: Sequence[Path] = ()
) -> tuple[tuple[str, ...], str]:
    """Return the words of `find_sandbox` as a plain user finds them, and why there are none."""
    script = (
        "import json; from pathlib import Path\n"
        "from weft.plugins.runners.spawner.sandbox import find_sandbox\n"
        f"{BECOME_PLAIN}"
        "home, options = sys.argv[1:]\n"
        "found = find_sandbox(Path(home), **json.loads(options))\n"
        "print(json.dumps([found.words, found.why_not]))"
    )
    options = {"network": network, "paths": [*map(str, paths)]}
    command = [sys.executable, "-c", script, str(home), json.dumps(options)]
    found = subprocess.check_output(command, cwd="/")
    words, why_not = json.loads(found)
    return tuple(words), why_not


needs_bubblewrap = pytest.mark.skipif(
    not words_of(Path("/nowhere"))[0], reason="this machine makes no sandboxes"
)


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Path]:
    """Return a directory of the plain user outside of `/tmp`, where homes are as a rule."""
    path = Path("/var/lib") if os.access("/var/lib", os.W_OK) else tmp_path
    path = path / f"weft-test-{os.getpid()}"
    make(path)
    yield path
    shutil.rmtree(path)


@pytest.fixture
def root(place: Path) -> Path:
    return make(place / "home")


def make(path: Path) -> Path:
    """Make a directory of the user of the spawner."""
    path.mkdir(mode=0o700)
    if PLAIN_USER is not None:
        os.chown(path, PLAIN_USER, PLAIN_USER)
    return path


class Sandboxed:
    """A spawner whose home is hidden from its jobs."""

    def __init__(self, spawner: SpawnerProcess, agent: Agent) -> None:
        self.spawner = spawner
        self.agent = agent
        self._count = 0

    def run(
        self,
        script: str,
        hidden: Sequence[Path] = (),
        **options: Any,  # noqa: ANN401 (as words_of)
    ) -> tuple[int | None, str]:
        """Run a script in a directory of its own; return its exit code and output."""
        self._count += 1
        end = self.agent.run(
            "sh",
            "-c",
            script,
            job_id=self._count,
            cwd=None,
            sandbox=self.words(**options),
            hidden_files=tuple(map(str, hidden)),
        )
        return end.exit_code, self.agent.output(end)[0].decode()

    def words(self, **options: Any) -> tuple[str, ...]:  # noqa: ANN401 (as words_of)
        words, why_not = words_of(self.spawner.root, **options)
        assert words, why_not
        return words


@pytest.fixture
def sandboxed(root: Path) -> Iterator[Sandboxed]:
    with SpawnerProcess(root, program=("-c", SPAWNER)) as spawner:
        yield Sandboxed(spawner, spawner.connect())


@needs_bubblewrap
def test_nothing_of_weft_is_seen_and_nothing_else_is_changed(
    sandboxed: Sandboxed, root: Path, tmp_path: Path
) -> None:
    (root / "key").write_text("canary")
    outside = root.parent / "outside"
    other = tempfile.mkdtemp(dir="/tmp")
    look = (
        f"ls -d {root}/* {other} | grep -v 'scratch\\|checkpoints'",
        f"cat {root}/key {root}/lock",
        f"touch {outside}",
        "ls -d /proc/[0-9]* | wc -l",
        "cat /proc/[0-9]*/environ | tr '\\0' '\\n' | grep ^WEFT_JOB= | sort -u",
        "echo $TMPDIR",
    )
    seen = sandboxed.run("; ".join(look))
    own = sandboxed.run(
        'touch here "$TMPDIR/there" "$WEFT_CHECKPOINT_DIR/kept" && pwd && '
        'ls "$PWD" "$TMPDIR" "$WEFT_CHECKPOINT_DIR" | grep -cE "here|there|kept"'
    )
    os.rmdir(other)  # noqa: PTH106 (text)
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
    shared = make(root.parent / "shared")
    count = "cat /proc/net/dev | grep -vc -e '|' -e lo:"
    with_network, without = (sandboxed.run(count, network=one) for one in (True, False))
    written = sandboxed.run(f"touch {shared}/made", paths=(shared,))
    refused = sandboxed.run(f"touch {shared}/not")
    hidden = sandboxed.run(f"ls {root}/s.lock", paths=(root.parent,))
    there = [one.name for one in shared.iterdir()]

    assert int(with_network[1]) > 0
    assert without[1] == "0\n"
    assert (written[0], refused[0] != 0, there) == (0, True, ["made"])
    assert hidden[0] != 0


@needs_bubblewrap
def test_credentials_outside_of_the_home_are_hidden(sandboxed: Sandboxed, place: Path) -> None:
    """The plain user may read them: they are that user's, as those of the api are."""
    outside = make(place / "etc")
    key, other, link = (outside / name for name in ("tls.key", "tls.crt", "link"))
    for one in (key, other):
        one.write_text("canary")
        if PLAIN_USER is not None:
            os.chown(one, PLAIN_USER, PLAIN_USER)
        one.chmod(0o600)
    link.symlink_to(key)
    look = f"cat {other}; echo; cat {key} {link}"
    shown = sandboxed.run(look)
    for named in (key, link):
        hidden = sandboxed.run(look, hidden=(named,), paths=(outside,))
        assert hidden[1] == "canary\n"
    gone = sandboxed.run("true", hidden=(outside / "gone", sandboxed.spawner.root / "lock"))

    assert shown[1].count("canary") == 3
    assert gone[0] == 0


@needs_bubblewrap
def test_credentials_that_come_later_are_hidden(sandboxed: Sandboxed, place: Path) -> None:
    """From the jobs that start then: one that comes, one in the place of another, a link that
    leads elsewhere; and nothing lies in the place of one that has gone.
    """
    outside = make(place / "etc")
    old, new, link = (outside / name for name in ("old", "new", "link"))
    words, look = sandboxed.words(), f"cat {link} {new}; echo done"
    seen = []
    for number, target in enumerate((old, new, old), start=70):
        target.with_suffix(".part").write_text("canary")
        target.with_suffix(".part").chmod(0o644)
        target.with_suffix(".part").rename(target)
        link.unlink(missing_ok=True)
        link.symlink_to(target)
        end = sandboxed.agent.run(
            "sh",
            "-c",
            look,
            job_id=number,
            cwd=None,
            sandbox=words,
            hidden_files=(str(link), str(new)),
        )
        seen.append(sandboxed.agent.output(end)[0].decode())
        if target == new:
            new.unlink()

    assert seen == ["done\n"] * 3


@needs_bubblewrap
def test_a_sandboxed_job_ends_as_others_do(sandboxed: Sandboxed, place: Path) -> None:
    """It hears of its end, may clean up, and its exit code is its own."""
    told = make(place / "told")
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
def test_variables_of_a_job_are_none_of_bubblewrap(sandboxed: Sandboxed, place: Path) -> None:
    """On the host, the dynamic linker would write files and run code for them as the worker."""
    agent, words, linker = sandboxed.agent, sandboxed.words(), make(place / "linker")
    env = {
        "PATH": PATH,
        "LD_DEBUG": "libs",
        "LD_DEBUG_OUTPUT": f"{linker}/trace",
        "SECRET": "canary\nof two lines",
        "EMPTY": "",
        "LETTER": "ü",
    }
    show = 'printf "%s" "$SECRET,${EMPTY-unset},$LETTER"; exec sleep 60'
    agent.start(process(31, "sh", "-c", show, sandbox=words, cwd=None), env=env)
    pid = agent.until_started(31).pid
    of_bubblewrap = [Path(f"/proc/{pid}/{one}").read_bytes() for one in ("environ", "cmdline")]
    agent.kill(31, reason=Reason.CANCELLED)
    shown = agent.output(agent.until_ended(31))[0]

    assert [*linker.iterdir()] == []
    assert of_bubblewrap[0].startswith(b"WEFT_ATTEMPT=b1.j31.1@")
    assert b"canary" not in b"".join(of_bubblewrap)
    assert "canary\nof two lines,,ü" in shown.decode()


@needs_bubblewrap
@pytest.mark.parametrize("env", [{"A": "x\0--bind\0/\0/"}, {"A=B": ""}, {"": "x"}])
def test_no_variable_is_an_option_of_bubblewrap(sandboxed: Sandboxed, env: dict[str, str]) -> None:
    end = sandboxed.agent.run("true", sandbox=sandboxed.words(), cwd=None, env=env)

    assert end.failure == Reason.BAD_SPEC
    assert "cannot be passed to a program" in end.message


@needs_bubblewrap
def test_symlinks_hide_and_show_what_they_lead_to(place: Path) -> None:
    home, shared = make(place / "really"), make(place / "shared")
    (home / "key").write_text("canary")
    for link, target in (("link", home), ("data", shared)):
        (place / link).symlink_to(target)
    with SpawnerProcess(place / "link", program=("-c", SPAWNER)) as spawner:
        sandboxed = Sandboxed(spawner, spawner.connect())
        look = f"cat {place}/link/key {home}/key; touch {place}/data/made"
        seen = sandboxed.run(look, paths=(place / "data",))
        own = sandboxed.run('touch here "$WEFT_CHECKPOINT_DIR/kept" && ls')

    assert seen == (0, "")
    assert own == (0, "here\n")
    assert (shared / "made").exists()
    assert (home / "checkpoints" / "kept" / "b1.j2" / "kept").exists()


def test_a_sandbox_without_a_job_yet_is_killed_at_once(sandboxed: Sandboxed, place: Path) -> None:
    """Nobody could hear of its end."""
    slow = place / "bwrap"
    slow.write_text("#!/bin/sh\nexec sleep 600\n")
    slow.chmod(0o755)
    sandboxed.agent.begin(process(41, "true", sandbox=(str(slow),), cwd=None))
    sandboxed.agent.kill(41, reason=Reason.CANCELLED, grace_ms=600_000)
    end = sandboxed.agent.until_ended(41)

    assert (end.killed_for, end.signal) == (Reason.CANCELLED, signal.SIGKILL)


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
    (tmp_path / "bwrap").write_text("#!/bin/sh\necho bwrap: no namespaces >&2; exit 1\n")
    (tmp_path / "bwrap").chmod(0o700)
    (tmp_path / "root").symlink_to("/")
    users = 1000, 0, 1000, 1000, 1000, 1000
    said = []
    for user, path, shared in zip(
        users,
        (tmp_path, tmp_path, "/nowhere", tmp_path, tmp_path, tmp_path),
        ("/not", "/usr", "/usr", "/usr", "/", f"{tmp_path}/root"),
        strict=True,
    ):
        monkeypatch.setattr(os, "getresuid", lambda user=user: (user, user, user))
        monkeypatch.setenv("PATH", str(path))
        with pytest.raises(NoSandbox) as error:
            sandbox_words(tmp_path, network=True, paths=(shared,))
        said.append((error.value.detail, error.value.hint.split(".")[0]))

    install = "Install bubblewrap, and allow user namespaces (sysctl kernel"
    assert said == [
        (
            "The reason: /not of `sandbox_paths` does not exist.",
            "Make this directory, or take it out of `sandbox_paths`",
        ),
        (
            (
                "The reason: the worker is root, who may change the kernel's settings from "
                "any sandbox."
            ),
            "Run the worker as a plain user",
        ),
        ("The reason: the program `bwrap` is missing.", install),
        ("The reason: `bwrap` says: bwrap: no namespaces.", install),
        *[
            (
                "The reason: `sandbox_paths` names the whole host.",
                "Name the directories that jobs may write",
            )
        ]
        * 2,
    ]
