"""Jobs that forbid the network run without, or not at all."""

import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest

from weft.core.errors import WeftError
from weft.plugins.executors.function import FunctionExecutor
from weft.plugins.executors.process import ProcessExecutor
from weft.plugins.runners.spawner.outgoing import Outgoing
from weft.plugins.runners.spawner.sandbox import find_no_network, find_own_root
from weft.ports.executor import ExecutorLimits, SpawnerExecutor
from weft.ports.runner import Assignment
from weft.wire.spawner import Account, ProcessEnd, Start
from weft.wire.spec import NO_NETWORK, FunctionSpec, JobSpec
from worker.spawner_process import Agent, key_of
from worker.test_sandbox import BECOME_PLAIN

LIMITS = ExecutorLimits(grace_ms=300, stream_bytes_max=1 << 20, stream_head_bytes=1 << 10)
EXECUTORS: dict[str, SpawnerExecutor] = {
    "process": ProcessExecutor(),
    "function": FunctionExecutor(),
}


def can_do_without() -> bool:
    """Say whether this machine lends a network namespace, without asking what is tested."""
    words = ("bwrap", "--unshare-net", "--dev-bind", "/", "/", "true")
    try:
        return subprocess.run(words, check=False, capture_output=True).returncode == 0
    except FileNotFoundError:
        return False


needs_bubblewrap = pytest.mark.skipif(
    not can_do_without(), reason="this machine lends no network namespace"
)
CONNECT = (
    "import socket, sys\n"
    "try:\n"
    "    print(socket.create_connection(('127.0.0.1', int(sys.argv[1]))).recv(9).decode())\n"
    "except OSError as error:\n"
    "    print(error.strerror)\n"
)


@pytest.fixture
def port() -> Iterator[str]:
    """Return the port of a server on this host that accepts whoever comes."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield str(server.getsockname()[1])


def spec_of(*command: str, network: bool | None = False, own_paths: bool = False) -> JobSpec:
    requires = (NO_NETWORK,) if network is False else ()
    paths = ("/weft-io",) if own_paths else None
    return JobSpec(command, network=network, requires=requires, own_paths=paths)


def outgoing(
    spec: JobSpec, limits: ExecutorLimits = LIMITS, account: Account | None = None
) -> list[Start]:
    """Return what is sent for a job. Raise `WeftError`."""
    sent: list[Start] = []
    messages = Outgoing(sent.append, EXECUTORS, limits)
    messages.add(Assignment(key_of(1), spec, 1000, 16, (1, 1), account=account))
    messages.send()
    return sent


def ended(agent: Agent, spec: JobSpec) -> ProcessEnd:
    for message in outgoing(spec):
        agent.send(message)
    return agent.until_ended(1)


@needs_bubblewrap
@pytest.mark.parametrize("own_paths", [False, True])
def test_job_reaches_nothing_not_even_this_host(agent: Agent, port: str, own_paths: bool) -> None:  # noqa: FBT001 (a parameter of pytest)
    if own_paths and not find_own_root().words:
        pytest.skip("this machine lends no mount namespace")
    end = ended(agent, spec_of(sys.executable, "-c", CONNECT, port, own_paths=own_paths))

    assert agent.output(end)[0] == b"Connection refused\n"


def test_other_jobs_have_the_network(agent: Agent, port: str) -> None:
    script = f"{CONNECT}print('reached')".replace(".recv(9).decode()", ".fileno() > 0")
    end = ended(agent, spec_of(sys.executable, "-c", script, port, network=None))

    assert agent.output(end)[0] == b"True\nreached\n"


@needs_bubblewrap
def test_exit_code_and_files_are_those_of_the_job(agent: Agent, tmp_path: Path) -> None:
    """It is no sandbox: the host is as it is for other jobs."""
    end = ended(agent, spec_of("/bin/sh", "-c", f"touch here {tmp_path}/there; exit 7"))

    assert end.exit_code == 7
    assert (tmp_path / "there").exists()


@needs_bubblewrap
def test_plain_user_can_do_without_network() -> None:
    script = (
        "import subprocess\n"
        "from weft.plugins.runners.spawner.sandbox import find_no_network\n"
        f"{BECOME_PLAIN}"
        "found = find_no_network()\n"
        "print(found.why_not); sys.stdout.flush()\n"
        "subprocess.run([*found.words, '--', 'cat', '/proc/net/dev'])\n"
    )
    said = subprocess.check_output([sys.executable, "-c", script], cwd="/", text=True)
    devices = [line.split(":")[0].strip() for line in said.splitlines()[3:]]

    assert (said.splitlines()[0], devices) == ("", ["lo"])


@needs_bubblewrap
def test_sandbox_that_has_the_network_loses_it() -> None:
    sandbox = find_no_network().words[:-1]
    (message,) = outgoing(spec_of("true"), replace(LIMITS, sandbox=sandbox))

    assert message.processes[0].sandbox == (*sandbox, "--unshare-net")


@pytest.mark.parametrize(
    ("program", "why"),
    [
        (None, "`bwrap` is missing"),
        ("echo bwrap: loopback: Failed >&2; exit 1", "`bwrap` says: bwrap: loopback: Failed"),
        ('while [ "$1" != -- ]; do shift; done; shift; exec "$@"', "`bwrap` says: it sees "),
    ],
    ids=["none", "refuses", "leaves the network"],
)
def test_worker_that_cannot_says_why(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, program: str | None, why: str
) -> None:
    if program is not None:
        (tmp_path / "bwrap").write_text(f"#!/bin/sh\n{program}\n")
        (tmp_path / "bwrap").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(WeftError, match=f"cannot keep it from the network: .*{why}.*weft doctor"):
        outgoing(spec_of("true"))


def test_worker_runs_no_job_with_a_requirement_that_it_does_not_know() -> None:
    """Another release may know more."""
    later = msgspec.structs.replace(spec_of("true"), requires=(NO_NETWORK, "a quiet host"))
    with pytest.raises(WeftError, match="cannot give it what it requires: a quiet host"):
        outgoing(later)


def test_call_of_a_function_is_refused() -> None:
    call = JobSpec(
        function=FunctionSpec(call="math:gcd"), executor="function", network=False,
        requires=(NO_NETWORK,),
    )  # fmt: skip
    with pytest.raises(WeftError, match="share processes, which have the network"):
        outgoing(call)


@needs_bubblewrap
def test_worker_with_accounts_refuses_it() -> None:
    with pytest.raises(WeftError, match="accounts of their users keeps none"):
        outgoing(spec_of("true"), account=Account(os.getuid() + 1, os.getgid() + 1))
