"""Jobs under the accounts of their users: what they are, what they reach, and how they end."""

import os
import pwd
import shutil
import signal
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest

from cases import cases
from contexts import fixture_of
from weft.core.errors import WeftError
from weft.core.states import Reason
from weft.plugins.executors.function.executor import FunctionExecutor
from weft.plugins.runners.spawner.beside import Channel, begin
from weft.plugins.runners.spawner.outgoing import Outgoing
from weft.ports.runner import Assignment, Ended
from weft.wire.exec import STDOUT, Begin, Terminal
from weft.wire.spawner import Account
from weft.wire.spec import FunctionSpec, JobSpec
from weft.worker.agent.job_accounts import JobAccounts
from worker.fake_store import FakeStore
from worker.spawner_process import Agent, SpawnerProcess, key_of, process, until_gone
from worker.worker_process import LIMITS, Worker

ADA, BOB = Account(20001, 20101, (20201,)), Account(20002, 20102)
needs_root = pytest.mark.skipif(
    os.geteuid() != 0, reason="only root starts processes under other accounts"
)


@pytest.fixture
def root() -> Iterator[Path]:
    """Return a directory that all accounts reach, which pytest's own are not."""
    path = Path(f"/var/lib/weft-test-run-as-{os.getpid()}")
    path.mkdir(mode=0o711)
    yield path
    shutil.rmtree(path)


spawner = fixture_of(lambda root: SpawnerProcess(root, modes=["accounts"]))


@pytest.fixture
def agent(spawner: SpawnerProcess) -> Agent:
    return spawner.connect(cpu_m=4000)


def said(agent: Agent, script: str, account: Account = ADA, **changes: Any) -> list[str]:  # noqa: ANN401 (as the fields)
    """Run a script; return the lines that it printed."""
    fields: dict[str, Any] = {"cwd": None, "account": account, **changes}
    end = agent.run("sh", "-c", script, **fields)
    return agent.output(end)[0].decode().splitlines()


WHO = "id -u; id -g; id -G; grep NoNewPrivs: /proc/self/status | tr -d '\\t'"
RIGHTS = "grep -E 'Cap(Prm|Eff|Amb):' /proc/self/status | grep -vc '\\b0*$'"
OWN = (
    'touch here "$WEFT_CHECKPOINT_DIR/kept"; stat -c %u . here "$WEFT_CHECKPOINT_DIR"; pwd -P; '
    'cat "$WEFT_SECRETS_DIR/key.pem"; echo >/dev/stdout again; stat -c %a "$PWD"'
)


@needs_root
@pytest.mark.parametrize("form", ["command", "script", "plain script", "directory"])
def test_job_is_its_user_and_has_what_is_its_own(agent: Agent, form: str) -> None:
    look = f"{WHO}; {RIGHTS}; {OWN}"
    files = {"key.pem": "swordfish\n"}
    if form == "directory":
        lines = said(agent, f"{WHO}; {RIGHTS}; pwd", cwd="/usr", memory_files=files)
        assert lines == ["20001", "20101", "20101 20201", "NoNewPrivs:1", "0", "/usr"]
        return
    if form == "command":
        lines = said(agent, look, memory_files=files)
    else:
        head = "" if form == "plain script" else "#!/bin/sh\n"
        end = agent.run(account=ADA, cwd=None, script=head + look, memory_files=files)
        lines = agent.output(end)[0].decode().splitlines()

    who, own = lines[:5], lines[5:]
    assert who == ["20001", "20101", "20101 20201", "NoNewPrivs:1", "0"]
    assert own[:3] == ["20001"] * 3
    assert own[4:] == ["swordfish", "again", "700"]


@needs_root
def test_job_reaches_nothing_of_weft_or_of_another_user(
    agent: Agent, spawner: SpawnerProcess, root: Path
) -> None:
    (root / "secrets.json").write_text("canary")
    (root / "secrets.json").chmod(0o600)
    told = root / "told"
    told.mkdir()
    os.chown(told, BOB.uid, BOB.gid)
    other = (
        'umask 0; echo canary > file; echo canary > "$WEFT_CHECKPOINT_DIR/file"; '
        f'echo "$PWD $WEFT_CHECKPOINT_DIR $WEFT_SECRETS_DIR $0" > {told}/places.new; '
        f"mv {told}/places.new {told}/places; exec sleep 600"
    )
    agent.start(
        process(
            7,
            account=BOB,
            cwd=None,
            script=f"#!/bin/sh\n# canary\n{other}",
            env={"CANARY": "canary"},
            memory_files={"key.pem": "canary"},
        )
    )
    pid = agent.until_started(7).pid
    while not (told / "places").exists():
        assert agent.has_ended(7, within_s=0.05) is False
    cwd, checkpoint, secrets, script = (told / "places").read_text().split()
    places = f"{cwd}/file {checkpoint}/file {secrets}/key.pem {script} /proc/{pid}/environ"
    look = (
        f"cat {places} {root}/secrets.json {root}/s.lock {root}/logs/*; "
        f"ls {cwd} {checkpoint} {secrets} {root} {root}/scratch/* {root}/checkpoints/*; "
        f"touch {cwd}/x {checkpoint}/x {secrets}/x {Path(cwd).parent}/x; "
        f"touch {root}/checkpoints/kept/x; ls /proc/{pid}/fd; "
        f"for one in {pid} {spawner.pid}; do kill -9 $one && echo killed; done; "
        f"python3 -c 'import socket; socket.socket(socket.AF_UNIX).connect(\"{root}/s.sock\")' "
        "&& echo connected"
    )
    seen = said(agent, look)
    alone = said(agent, look, BOB)
    agent.kill(7, reason=Reason.CANCELLED, grace_ms=0)

    assert seen == []
    assert "canary" in alone  # what the user's own jobs see
    assert agent.until_ended(7).signal == signal.SIGKILL


@needs_root
def test_no_directory_goes_from_one_user_to_another(agent: Agent) -> None:
    """Not even one that seems to be as it was made."""
    plant = 'touch "$one/planted"; touch -d @0 "$one"'
    said(agent, f'for one in . "$WEFT_CHECKPOINT_DIR"; do {plant}; done')

    assert said(agent, 'ls -A . "$WEFT_CHECKPOINT_DIR" | grep planted', BOB, job_id=2) == []


@needs_root
@pytest.mark.parametrize("cwd", [None, "/usr"])
def test_variables_of_a_job_act_for_its_account_only(
    agent: Agent, root: Path, cwd: str | None
) -> None:
    """The dynamic linker writes a file for each program that it starts."""
    traces = root / "traces"
    traces.mkdir()
    traces.chmod(0o777)
    env = {"LD_DEBUG": "libs", "LD_DEBUG_OUTPUT": f"{traces}/trace"}
    said(agent, "true", env=env, cwd=cwd)
    owners = {one.stat().st_uid for one in traces.iterdir()}

    assert owners == {ADA.uid}


@needs_root
def test_directory_is_entered_as_the_user(agent: Agent, root: Path) -> None:
    """One that all may enter, below one that they may not."""
    inner = root / "closed" / "open"
    inner.mkdir(parents=True)
    (root / "closed").chmod(0o700)
    (inner / "file").write_text("canary")
    end = agent.run("cat", "file", cwd=str(inner), account=ADA)

    assert end.failure == Reason.BAD_SPEC
    assert end.message == f"cannot enter the directory {inner}: Permission denied"


@needs_root
def test_what_an_account_may_not_see_is_told_as_what_is_not_there(
    agent: Agent, root: Path
) -> None:
    """As a program, as its interpreter, in PATH, and as a directory."""
    closed = root / "closed"
    (closed / "present").mkdir(parents=True)
    closed.chmod(0o700)
    script = root / "script"

    def told(name: str) -> list[tuple[int | None, str]]:
        path = closed / name
        script.write_text(f"#!{path}/x\n")
        script.chmod(0o755)
        ends = [
            agent.run(str(path), account=ADA),
            agent.run(str(script), account=ADA),
            agent.run(name, account=ADA, env={"PATH": str(closed)}),
            agent.run("true", account=ADA, cwd=str(path)),
        ]
        return [(one.failure, one.message.replace(name, "NAME")) for one in ends]

    assert told("present") == told("missing")


@needs_root
def test_program_that_never_opens_keeps_nobody_waiting(agent: Agent, root: Path) -> None:
    """Of a leased file not even the kernel opens a program before the lease is given back."""
    leased = root / "leased"
    leased.write_text("#!/bin/sh\n")
    leased.chmod(0o755)
    os.mkfifo(root / "pipe", 0o755)
    for one in ("leased", "pipe"):
        os.chown(root / one, ADA.uid, ADA.gid)
    lease = (
        "import fcntl, os, signal, sys; signal.signal(signal.SIGIO, signal.SIG_IGN)\n"
        f"fcntl.fcntl(os.open({str(leased)!r}, os.O_RDWR), fcntl.F_SETLEASE, fcntl.F_WRLCK)\n"
        f"open({str(root / 'told' / 'leased')!r}, 'w'); signal.pause()"
    )
    (root / "told").mkdir()
    os.chown(root / "told", ADA.uid, ADA.gid)
    agent.begin(process(7, "python3", "-c", lease, account=ADA))
    while not (root / "told" / "leased").exists():
        assert agent.has_ended(7, within_s=0.05) is False
    agent.begin(process(8, str(leased), account=ADA))
    pipe = agent.run(str(root / "pipe"), account=ADA)
    agent.kill(7, 8, reason=Reason.CANCELLED, grace_ms=0)

    assert pipe.failure == Reason.NO_PROGRAM
    assert agent.until_ended(8).killed_for == Reason.CANCELLED


@needs_root
def test_files_that_the_spawner_has_open_are_no_programs(agent: Agent) -> None:
    """Neither the pipes of other jobs nor what they read."""
    canary = "#!/bin/echo canary\n"
    agent.begin(process(900, "sleep", "600", account=BOB, stdin=canary))
    for number in range(3, 60):
        agent.start(process(number, f"/proc/self/fd/{number}", account=ADA))
        agent.start(process(number + 100, "true", account=BOB, stdin=canary))
    ends = [agent.until_ended(number) for number in range(3, 60)]
    agent.kill(900, reason=Reason.CANCELLED, grace_ms=0)

    assert {one.failure for one in ends} == {Reason.NO_PROGRAM}
    assert not [one for one in ends if "canary" in one.message]


@needs_root
def test_it_ends_and_is_counted_as_others(agent: Agent) -> None:
    burn = "i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done"
    counted = agent.run("sh", "-c", burn, account=ADA, cwd=None)
    missing = agent.run("no-such-program", account=ADA, cwd=None, job_id=2)
    trap = "trap 'echo cleaned; exit 5' TERM; setsid sleep 600 & while :; do sleep 0.05; done"
    agent.start(process(3, "sh", "-c", trap, account=ADA, cwd=None))
    pid = agent.until_started(3).pid
    children = Path(f"/proc/{pid}/task/{pid}/children")
    while not (left := [int(one) for one in children.read_text().split()]):
        assert agent.has_ended(3, within_s=0.02) is False
    agent.kill(3, reason=Reason.CANCELLED)
    cleaned = agent.until_ended(3)
    until_gone(left[0])

    assert counted.exit_code == 0
    assert min(counted.cpu_ms - 20, counted.memory_peak_bytes) > 0
    assert missing.failure == Reason.NO_PROGRAM
    assert (cleaned.exit_code, cleaned.killed_for) == (5, Reason.CANCELLED)


@needs_root
async def test_terminal_of_a_command_is_its_users(agent: Agent, spawner: SpawnerProcess) -> None:
    agent.begin(process(1, "sleep", "1000", cwd="/", account=ADA))
    script = "id -u; stat -c %u $(tty); stty size; : </dev/tty && ps -o tpgid=,sid=,pid= -p $$"
    begun = Begin(key_of(1), "logs", ("sh", "-c", script), 1, term="vt100", of_owner=True)
    channel = await begin(spawner.root / "s.sock.exec", begun, Terminal(0, 65_535))
    assert isinstance(channel, Channel)
    shown = b"".join([frame[5:] async for frame in channel.frames() if frame[0] == STDOUT])
    *facts, leaders = shown.split(b"\r\n")[:-1]

    assert facts == [b"20001", b"20001", b"0 65535"]
    assert len(set(leaders.split())) == 1  # it leads its session and the terminal's group


def test_no_job_is_root(agent: Agent) -> None:
    for account in (Account(0, 20001), Account(20001, 0)):
        end = agent.run("true", account=account, cwd=None)
        assert end.failure == Reason.BAD_SPEC


@pytest.fixture
async def worker(root: Path) -> AsyncIterator[Worker]:
    (root / "w").mkdir(mode=0o711)
    one = Worker(root / "w", FakeStore())
    one.use_accounts({("local", "ada"): "20001:20101", ("acme", "eve"): "20002:20102"})
    async with one.running():
        yield one


@needs_root
async def test_each_job_gets_the_account_of_its_user(worker: Worker) -> None:
    look = JobSpec(("/bin/sh", "-c", "id -u; echo $USER $HOME"))
    worker.store.submit(look)
    (ada,) = await worker.store.until(1)
    worker.store.submitter = ("acme", "eve")
    worker.store.submit(look)
    _, eve = await worker.store.until(2)
    worker.store.submitter = ("acme", "root")
    worker.store.submit(look)
    *_, refused = await worker.store.until(3)

    assert worker.output(ada) == b"20001\nada /\n"
    assert worker.output(eve) == b"20002\neve /\n"
    assert (refused.reason, refused.start_age_us) == (Reason.BAD_SPEC, None)
    assert "does not name acme/root" in refused.message


@cases(
    ("user", "accounts", "uid_min", "found"),
    [
        (("local", "ada"), {("", "ada"): "20001:20101"}, 1000, 20001),
        (("local", "ada"), {("local", "ada"): "20001:20101"}, 1000, 20001),
        (("local", "ada"), {("", "ada"): "1:1", ("local", "ada"): "2:2"}, 1000, "and local/ada"),
        (("local", "nobody"), {}, 1, pwd.getpwnam("nobody").pw_uid),
        (("local", "root"), {}, 1, "its number 0 is below 1"),
        (("local", "daemon"), {}, 1000, "is below 1000 (`run_as_uid_min`)"),
        (("local", "ada"), {("local", "ada"): "20001:0"}, 1000, "belongs to the group root"),
        (("local", "no-such-user"), {}, 1000, "this host has no account 'no-such-user'"),
        (("local", "1000:6"), {}, 1000, "this host has no account '1000:6'"),
        (("Local", "Ada"), {("local", "ada"): "20001:20101"}, 1000, 20001),
        (("acme", "nobody"), {}, 1, "does not name acme/nobody"),
        # Somebody's tenant, where the installation's own has another name.
        (("default", "nobody"), {("", "nobody"): "nobody"}, 1, "not name default/nobody"),
    ],
)
async def test_account_of_a_user(
    user: tuple[str, str],
    accounts: dict[tuple[str, str], str],
    uid_min: int,
    found: int | str,
) -> None:
    store = FakeStore()
    store.submitter = user
    one = Assignment(key_of(1), JobSpec(), 1000, 1, (1, 1))
    (given,) = await JobAccounts(store, accounts, uid_min=uid_min).give([one])

    if isinstance(found, str):
        assert isinstance(given, Ended)
        assert (given.reason, found in given.message) == (Reason.BAD_SPEC, True), given.message
    else:
        assert isinstance(given, Assignment)
        assert given.account is not None
        assert found == given.account.uid


async def test_account_that_was_there_is_used_while_the_directory_service_is_away(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The host then says that there is no such account, as if it were removed."""
    now, lines = [0.0], {"ada": pwd.struct_passwd(("ada", "x", 20001, 20101, "", "/", "/bin/sh"))}
    monkeypatch.setattr(pwd, "getpwnam", lambda name: lines[name])
    monkeypatch.setattr(os, "getgrouplist", lambda _, gid: [gid])
    accounts = JobAccounts(FakeStore(), {}, uid_min=1000, clock=lambda: now[0])
    one = Assignment(key_of(1), JobSpec(), 1000, 1, (1, 1))

    async def has_account(at: float) -> bool:
        now[0] = at
        (given,) = await accounts.give([one])
        return isinstance(given, Assignment)

    assert await has_account(0)
    entry = lines.pop("ada")
    assert [await has_account(at) for at in (40, 599, 631)] == [True, True, False]
    lines["ada"] = entry
    assert await has_account(700)
    monkeypatch.setattr(os, "getgrouplist", lambda *_: [0])
    assert not await has_account(740)


def test_no_function_is_called_under_an_account() -> None:
    outgoing = Outgoing(lambda _: None, {"function": FunctionExecutor()}, LIMITS)
    spec = JobSpec(function=FunctionSpec(call="math:gcd"), executor="function")

    with pytest.raises(WeftError, match="accounts of their users"):
        outgoing.add(Assignment(key_of(1), spec, 1000, 1, (1, 1), account=ADA))
