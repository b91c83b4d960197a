"""Claimed jobs on their way to the spawner, also those that find their own at further paths; those
that forbid the network run without, or not at all.
"""

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
from weft.core.states import AttemptKey, Reason
from weft.plugins.executors.function.executor import FunctionExecutor
from weft.plugins.executors.process import ProcessExecutor
from weft.plugins.runners.spawner.outgoing import MESSAGE_BYTES, Outgoing
from weft.plugins.runners.spawner.sandbox import find_no_network, find_own_root
from weft.ports.executor import ExecutorLimits, SpawnerExecutor
from weft.ports.function_signatures import ChunkKey
from weft.ports.runner import Assignment
from weft.ports.store import Claimed
from weft.wire.documents.engines import EngineOptions
from weft.wire.function import Definition
from weft.wire.spawner import Account, ProcessEnd, Start
from weft.wire.spec import NO_NETWORK, FunctionSpec, JobSpec
from weft.worker.agent.specs import CHUNKS_A_PART, definer_of, parts_of
from worker.spawner_process import PATH, Agent, key_of
from worker.test_sandbox import BECOME_PLAIN

LIMITS = ExecutorLimits(grace_ms=300, stream_bytes_max=1 << 20, stream_head_bytes=1 << 10)


def claimed(job_id: int, chunk_first: int | None = None) -> Claimed:
    return Claimed(
        batch_id=1,
        job_id=job_id,
        attempt=1,
        cpu_m=1000,
        memory_mib=64,
        storage_mib=0,
        gpu=0,
        chunk_first=job_id if chunk_first is None else chunk_first,
    )


def send(
    jobs: Iterator[tuple[Claimed, JobSpec]],
    shared: dict[ChunkKey, JobSpec] | None = None,
    limits: ExecutorLimits = LIMITS,
) -> list[Start]:
    sent: list[Start] = []
    executors: dict[str, SpawnerExecutor] = {
        "process": ProcessExecutor(),
        "function": FunctionExecutor(),
    }
    outgoing = Outgoing(sent.append, executors, limits)
    for one, spec in jobs:
        definer = definer_of(one, spec)
        outgoing.add(
            Assignment(
                AttemptKey(1, one.job_id, 1),
                spec,
                one.cpu_m,
                one.memory_mib,
                definer,
                (shared or {}).get(definer),
            )
        )
    outgoing.send()
    return sent


@pytest.mark.parametrize(("sandbox", "hidden"), [(("bwrap",), ("/key",)), ((), ())])
def test_files_that_no_sandbox_shows_are_asked_for_anew(
    sandbox: tuple[str, ...], hidden: tuple[str, ...]
) -> None:
    known: list[str] = []
    limits = replace(LIMITS, sandbox=sandbox, hidden_files=lambda: tuple(known))
    known.append("/key")
    (message,) = send(iter([(claimed(1), JobSpec(("true",)))]), limits=limits)

    assert message.processes[0].hidden_files == hidden


def test_what_jobs_share_is_sent_once_a_message() -> None:
    brought = JobSpec(executor="function", function=FunctionSpec(pickle=b"f", arguments=b"1"))
    calls = JobSpec(executor="function", function=FunctionSpec(arguments=b"2"), shares=1)
    jobs = [(claimed(1), brought), (claimed(2), calls), (claimed(3), calls)]
    (message,) = send(iter(jobs), {(1, 1): brought})

    assert len(message.environments) == 1
    ((definer, definition),) = message.definitions
    assert definer == 1
    assert msgspec.msgpack.decode(definition, type=Definition).pickle == b"f"
    assert [one.warm and one.warm.definition for one in message.processes] == [0, 0, 0]


def test_jobs_of_one_chunk_bring_their_own() -> None:
    """A job that is tried again may come behind its neighbours."""
    named = JobSpec(executor="function", function=FunctionSpec(call="a:b"))
    brought = JobSpec(executor="function", function=FunctionSpec(pickle=b"f"))
    (message,) = send(iter([(claimed(2, 1), named), (claimed(1), brought)]))

    assert [one.warm and one.warm.definition for one in message.processes] == [None, 0]


def test_a_function_that_nobody_brings_is_refused() -> None:
    calls = JobSpec(executor="function", function=FunctionSpec(arguments=b"2"), shares=1)

    with pytest.raises(WeftError, match="should carry the function has none"):
        send(iter([(claimed(2), calls)]))
    with pytest.raises(WeftError, match="should carry the function has none"):
        send(iter([(claimed(2), calls)]), {(1, 1): JobSpec(command=("true",))})


def test_a_message_has_a_bounded_size() -> None:
    long = JobSpec(command=("cat",), stdin="x" * (MESSAGE_BYTES // 4))
    messages = send((claimed(number), long) for number in range(1, 13))

    assert [len(message.processes) for message in messages] == [4, 4, 4]


def test_what_was_claimed_is_read_in_parts() -> None:
    many = [claimed(number) for number in range(CHUNKS_A_PART + 10)]
    parts = list(parts_of(many))

    assert [len(part) for part in parts] == [CHUNKS_A_PART, 10]
    assert [one for part in parts for one in part] == many
    assert list(parts_of(many[:3])) == [many[:3]]
    assert [len(part) for part in parts_of([claimed(n, 1) for n in range(1, 1001)])] == [1000]


def test_a_reference_is_a_number_or_a_distance() -> None:
    assert definer_of(claimed(9), JobSpec(shares=4)) == (1, 4)
    assert definer_of(claimed(9), JobSpec(shares=-2)) == (1, 7)
    assert definer_of(claimed(9, 8), JobSpec()) == (1, 8)
    assert definer_of(claimed(9, 8), None) == (1, 8)


NAME = f"weft-test-{os.getpid()}"
needs_root = pytest.mark.skipif(
    not find_own_root().words, reason="this machine lends no mount namespace"
)


def outgoing(send: list[Start], limits: ExecutorLimits = LIMITS) -> Outgoing:
    return Outgoing(send.append, {"process": ProcessExecutor()}, limits)


def assignment(job_id: int, script: str, **more: str) -> Assignment:
    spec = JobSpec(command=("/bin/sh", "-c", script), own_paths=("/weft-io",), **more)  # type: ignore[arg-type]  # texts only
    return Assignment(key_of(job_id), spec, 1000, 16, (1, job_id))


def start(agent: Agent, *assignments: Assignment) -> None:
    sent: list[Start] = []
    messages = outgoing(sent)
    for one in assignments:
        messages.add(one)
    messages.send()
    for message in sent:
        agent.send(message)


@pytest.fixture
def no_programs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")


@needs_root
def test_path_is_the_directory_of_the_job_alone(agent: Agent) -> None:
    """It goes with the job; the rest of the host is where it was."""
    script = (
        f"PATH={PATH}; mkdir -p /weft-io/a && echo $1 > /weft-io/a/f && cat a/f && ls /weft-io"
    )
    start(agent, assignment(1, f"set -- one; {script}"), assignment(2, f"set -- two; {script}"))
    ends = [agent.until_ended(number) for number in (1, 2)]

    assert [agent.output(end)[0] for end in ends] == [b"one\na\n", b"two\na\n"]
    assert not Path("/weft-io").exists()


@needs_root
def test_nothing_is_lost_in_a_root_that_goes_with_the_job(agent: Agent) -> None:
    """What stands beside the directories of the host is read-only; they themselves are not."""
    script = "echo x > /weft-lost || echo refused; mkdir /weft-lost || echo again; touch /tmp/$0"
    start(agent, assignment(1, script.replace("$0", NAME)))
    end = agent.until_ended(1)
    kept = Path("/tmp", NAME)
    is_kept = kept.exists()
    kept.unlink(missing_ok=True)

    assert agent.output(end)[0] == b"refused\nagain\n"
    assert is_kept
    assert not Path("/weft-lost").exists()


@needs_root
def test_exit_code_and_kill_reach_the_job(agent: Agent) -> None:
    start(agent, assignment(1, "exit 7"), assignment(2, "trap 'exit 5' TERM; sleep 600 & wait"))
    code = agent.until_ended(1).exit_code
    agent.until_started(2)
    agent.kill(2, reason=Reason.CANCELLED, grace_ms=5000)

    assert code == 7
    assert agent.until_ended(2).killed_for == Reason.CANCELLED


@pytest.mark.usefixtures("no_programs")
def test_worker_that_lends_no_namespace_says_why() -> None:
    with pytest.raises(WeftError, match=r"`bwrap` is missing.*weft doctor"):
        outgoing([]).add(assignment(1, "true"))


def test_job_with_another_directory_or_more_nodes_is_refused() -> None:
    with pytest.raises(WeftError, match="another directory"):
        outgoing([]).add(assignment(1, "true", cwd="/tmp"))
    with pytest.raises(WeftError, match="asks for nodes, and a worker of weft's own has none"):
        outgoing([]).add(assignment(1, "true", engine=EngineOptions(nodes=2)))  # type: ignore[arg-type]


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


def messages_of(
    spec: JobSpec, limits: ExecutorLimits = LIMITS, account: Account | None = None
) -> list[Start]:
    """Return what is sent for a job. Raise `WeftError`."""
    sent: list[Start] = []
    messages = Outgoing(sent.append, EXECUTORS, limits)
    messages.add(Assignment(key_of(1), spec, 1000, 16, (1, 1), account=account))
    messages.send()
    return sent


def ended(agent: Agent, spec: JobSpec) -> ProcessEnd:
    for message in messages_of(spec):
        agent.send(message)
    return agent.until_ended(1)


@needs_bubblewrap
@pytest.mark.parametrize("own_paths", [False, True])
def test_job_reaches_nothing_not_even_this_host(agent: Agent, port: str, own_paths: bool) -> None:
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
    (message,) = messages_of(spec_of("true"), replace(LIMITS, sandbox=sandbox))

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
        messages_of(spec_of("true"))


def test_worker_runs_no_job_with_a_requirement_that_it_does_not_know() -> None:
    """Another release may know more."""
    later = msgspec.structs.replace(spec_of("true"), requires=(NO_NETWORK, "a quiet host"))
    with pytest.raises(WeftError, match="cannot give it what it requires: a quiet host"):
        messages_of(later)


def test_call_of_a_function_is_refused() -> None:
    call = JobSpec(
        function=FunctionSpec(call="math:gcd"),
        executor="function",
        network=False,
        requires=(NO_NETWORK,),
    )
    with pytest.raises(WeftError, match="share processes, which have the network"):
        messages_of(call)


@needs_bubblewrap
def test_worker_with_accounts_refuses_it() -> None:
    with pytest.raises(WeftError, match="accounts of their users keeps none"):
        messages_of(spec_of("true"), account=Account(os.getuid() + 1, os.getgid() + 1))
