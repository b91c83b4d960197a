"""A worker that shares nothing with the server but its address: no home, no login, no key."""

import json
import os
import shutil
import signal
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from ssl import PROTOCOL_TLS_SERVER, SSLContext
from typing import Self
from urllib.parse import urlsplit

import pytest

from certificates import DAY, certificate
from e2e.conftest import PROGRAM, Weft, until
from middle import Middle
from worker.spawner_process import until_gone


class Outside:
    """A worker with a home of its own."""

    def __init__(self, weft: Weft, path: Path, name: str = "out1", **more: str) -> None:
        self._more = more
        self._name = name
        self.home = path / f"outside-{name}"
        self.spawner = 0
        """The pid of the newest one."""
        self._token = path / f"token-{name}"
        made = weft.told("token", "create", name, "--pool", "default", "--workers", "out*")
        self._token.touch(0o600)
        self._token.write_bytes(made)
        self.url = json.loads((weft.home / "client.json").read_text())["url"]
        self.middle: Middle
        self.heard: Callable[[dict[str, str]], None] = lambda _line: None
        """Called with each line of its log until it is registered."""

    @contextmanager
    def behind(self, tls: SSLContext | None = None) -> Iterator[Self]:
        """Reach the api through the proxy `middle`."""
        server = urlsplit(self.url)
        assert server.hostname and server.port  # noqa: PT018 (for types)
        with Middle(server.hostname, server.port, tls=tls).running() as self.middle:
            self.url = f"http{'s' if tls else ''}://127.0.0.1:{self.middle.port}"
            yield self

    @contextmanager
    def running(self) -> Iterator["subprocess.Popen[bytes]"]:
        """Run it, registered, until the end or its death."""
        command = [
            *PROGRAM,
            "worker",
            "--worker-name",
            self._name,
            "--label",
            "site=out",
            "--worker-cpu",
            "4",
            "--log-format",
            "json",
            "--connect",
            self.url,
            "--token-file",
            str(self._token),
        ]
        kept = {name: text for name, text in os.environ.items() if not name.startswith("WEFT_")}
        with subprocess.Popen(
            command,
            env={**kept, **self._more, "WEFT_HOME": str(self.home)},
            stderr=subprocess.PIPE,
        ) as process:
            assert process.stderr is not None
            try:
                for line in process.stderr:
                    self.heard(said := json.loads(line))
                    self.spawner = said.get("spawner_pid", self.spawner)
                    if b"worker.registered" in line:
                        break
                else:
                    raise AssertionError("the worker does not register")
                yield process
            finally:
                process.terminate()
                process.communicate(timeout=60)


@pytest.fixture
def outside(weft: Weft, tmp_path: Path) -> Outside:
    return Outside(weft, tmp_path)


def submit(weft: Weft, path: Path, jobs: list[dict[str, object]]) -> str:
    file = path / "jobs.json"
    file.write_text(json.dumps({"defaults": {"resources": {"site": "out"}}, "jobs": jobs}))
    made = []

    def is_accepted() -> bool:
        """Say whether the api knows by now what the worker offers; what it refuses is not kept."""
        made.append(weft.run("submit", str(file), "--json"))
        assert made[-1].returncode == 0 or b"no worker offers this" in made[-1].stderr
        return made[-1].returncode == 0

    until(is_accepted)
    return f"b{json.loads(made[-1].stdout)['batch_id']}"


def test_output_of_a_worker_outside_is_read_while_it_runs_and_later(
    weft: Weft, outside: Outside, tmp_path: Path
) -> None:
    with outside.running():
        script = f"echo begun; while [ ! -e {tmp_path}/go ]; do sleep 0.05; done; echo ended"
        batch = submit(weft, tmp_path, [{"script": "echo short"}, {"script": script}])
        with weft.started("logs", "-f", f"{batch}.j2") as following:
            assert following.stdout is not None
            assert following.stdout.readline() == b"begun\n"
            listed = json.loads(weft.run("worker", "ls", "--json").stdout)
            assert {one["worker"]: one["linked"] for one in listed}["out1"]
            assert sum(one["linked"] for one in listed) == 1
            assert weft.run("worker", "ls").stdout.count(b" (link") == 1
            (tmp_path / "go").touch()
            assert following.stdout.readline() == b"ended\n"
        assert weft.run("wait", batch).returncode == 0
    assert weft.run("logs", f"{batch}.j2").stdout == b"begun\nended\n"
    assert weft.run("logs", f"{batch}.j1").stdout == b"short\n"


def test_what_a_running_job_has_outside_is_listed_and_read(
    weft: Weft, outside: Outside, tmp_path: Path
) -> None:
    with outside.running():
        script = (
            "echo one > b.txt; mkdir d; head -c 1500000 /dev/zero > d/a; ln -s /etc/passwd d/l; "
            f"until [ -e {tmp_path}/go ]; do sleep 0.1; done"
        )
        given: dict[str, object] = {"script": script, "outputs": [{"from": "b.txt"}]}
        job = submit(weft, tmp_path, [given]) + ".j1"

        def seen() -> dict[str, int]:
            found = json.loads(weft.run("files", "ls", job, "--json").stdout)
            return {one["path"]: one["bytes"] for one in found}

        until(lambda: seen() == {"b.txt": 4, "d/a": 1_500_000})
        assert weft.run("files", "cat", job, "b.txt").stdout == b"one\n"
        weft.told("files", "get", job, "d/a", "--to", str(tmp_path))
        assert (tmp_path / "d" / "a").read_bytes() == bytes(1_500_000)
        for path in ("go", "d", "d/l"):
            assert b"has no file" in weft.run("files", "cat", job, path).stderr, path
        (tmp_path / "go").touch()
        assert weft.run("wait", job.partition(".")[0]).returncode == 0


def test_what_a_job_leaves_is_at_home_when_its_end_is_told(
    weft: Weft, outside: Outside, tmp_path: Path
) -> None:
    """Whatever becomes of its machine; also an empty file, two that are the same, a failed job."""
    with outside.running():
        outputs = [{"from": "*", "when": "always"}]
        script = "head -c 2500000 /dev/zero > a; cp a b; : > empty; exit "
        jobs: list[dict[str, object]] = [
            {"script": script + code, "outputs": outputs} for code in "03"
        ]
        batch = submit(weft, tmp_path, jobs)
        weft.run("wait", batch)
    shutil.rmtree(outside.home)
    for number in (1, 2):
        job, to = f"{batch}.j{number}", tmp_path / f"{number}"
        listed = json.loads(weft.run("files", "ls", job, "--json").stdout)
        assert {one["path"]: one["bytes"] for one in listed} == {
            "a": 2_500_000,
            "b": 2_500_000,
            "empty": 0,
        }
        for name in ("a", "b", "empty"):
            weft.told("files", "get", job, name, "--to", str(to))
            assert (to / name).read_bytes() == bytes(0 if name == "empty" else 2_500_000)
    assert not list(weft.home.glob("files/*/*/.left-*"))


@pytest.mark.heavy
def test_a_worker_outside_says_why_a_certificate_is_wrong_until_it_is_renewed(
    weft: Weft, tmp_path: Path
) -> None:
    authority, stranger = certificate(), certificate()
    (tmp_path / "ca.pem").write_bytes(authority.cert_pem())
    wrong = {
        "has expired": certificate("127.0.0.1", issuer=authority, ends_in=-DAY),
        "is not yet valid": certificate("127.0.0.1", issuer=authority, begins_in=DAY / 2),
        "is not valid for": certificate("weft.example", issuer=authority),
        "unable to get local issuer": certificate("127.0.0.1", issuer=stranger),
    }
    shown, lines = SSLContext(PROTOCOL_TLS_SERVER), list[dict[str, str]]()
    coming = iter([*wrong.values(), certificate("127.0.0.1", issuer=authority)])
    shown.load_cert_chain(*next(coming).write(tmp_path))

    def hear(line: dict[str, str]) -> None:
        if line["event"].startswith("link."):
            lines.append(line)
        if line["event"] == "link.unreachable":
            shown.load_cert_chain(*next(coming).write(tmp_path))

    with Outside(weft, tmp_path, WEFT_CA_FILE=str(tmp_path / "ca.pem")).behind(shown) as outside:
        outside.heard = hear
        with outside.running():
            *unreachable, reached = lines
    assert reached["event"] == "link.reached"
    for line, words in zip(unreachable, wrong, strict=True):
        assert words in line["detail"].lower(), line
        assert line["hint"]


def test_worker_that_is_refused_for_good_leaves_no_process(weft: Weft, tmp_path: Path) -> None:
    """For its name when it registers, and for its token later."""
    other = Outside(weft, tmp_path, "in1")
    with pytest.raises(AssertionError, match="does not register"), other.running():
        pass
    assert other.spawner
    until_gone(other.spawner)
    known = Outside(weft, tmp_path, "out9")  # it cannot leave, so its name is in use for a time
    with known.running() as process:
        tokens = json.loads(weft.run("token", "ls", "--json").stdout)
        number = max(one["token_id"] for one in tokens if one["name"] == "out9")
        assert weft.run("token", "revoke", str(number)).returncode == 0
        assert process.wait(60) == 4
        until_gone(known.spawner)


COUNTING = """
n=$(cat "$WEFT_CHECKPOINT_DIR/n" 2>/dev/null || echo 0)
echo "from $n"
while [ "$n" -lt 5 ]; do
  n=$((n + 1))
  echo "$n" > "$WEFT_CHECKPOINT_DIR/new" && mv "$WEFT_CHECKPOINT_DIR/new" "$WEFT_CHECKPOINT_DIR/n"
  ln -sf n "$WEFT_CHECKPOINT_DIR/newest"
  if [ "$n" = 3 ] && [ ! -e "$1/go" ]; then
    touch "$1/waits"
    exec sleep 600
  fi
done
readlink "$WEFT_CHECKPOINT_DIR/newest"
"""


def kept(weft: Weft, batch: str) -> list[str]:
    return [found.name for found in weft.home.glob(f"logs/*/attempts/{batch}/*/*.checkpoint")]


@pytest.mark.heavy
def test_a_job_goes_on_elsewhere_from_its_checkpoint_when_its_machine_is_gone(
    weft: Weft, tmp_path: Path
) -> None:
    first = Outside(weft, tmp_path, "out1", WEFT_CHECKPOINT_SHIP_S="0.2")
    second = Outside(weft, tmp_path, "out2", WEFT_CHECKPOINT_SHIP_S="0.2")
    with first.running() as process:
        command = ["sh", "-c", COUNTING, "sh", str(tmp_path)]
        batch = submit(weft, tmp_path, [{"command": command, "max_attempts": 3}])
        until((tmp_path / "waits").exists)
        until(lambda: kept(weft, batch) == ["1.1.checkpoint"])
        (tmp_path / "go").touch()
        os.kill(process.pid, signal.SIGKILL)
        os.kill(first.spawner, signal.SIGKILL)
        shutil.rmtree(first.home)
    with second.running():
        assert weft.run("wait", batch, timeout_s=120).returncode == 0
    assert weft.run("logs", f"{batch}.j1").stdout == b"from 3\nn\n"
    weft.told("audit")


def test_what_ends_without_success_brings_its_checkpoint_away_before_its_end_is_told(
    weft: Weft, tmp_path: Path
) -> None:
    """A failure, then the end of its worker."""
    script = f"""
d=$WEFT_CHECKPOINT_DIR
n=$(cat "$d/n" 2>/dev/null || echo 0); n=$((n + 1)); echo "$n" > "$d/n"; mkdir -p "$d/a/b"
echo "attempt $n"
[ "$n" != 2 ] || {{ touch {tmp_path}/second; exec sleep 600; }}
[ "$n" = 3 ]
"""
    one, other = (Outside(weft, tmp_path, name) for name in ("out1", "out2"))
    with one.running():
        batch = submit(weft, tmp_path, [{"script": script, "max_attempts": 4}])
        until((tmp_path / "second").exists)
    assert kept(weft, batch) == ["1.2.checkpoint"]
    shutil.rmtree(one.home)
    with other.running():
        assert weft.run("wait", batch, timeout_s=60).returncode == 0
    assert weft.run("logs", f"{batch}.j1").stdout == b"attempt 3\n"


def test_a_worker_outside_tells_the_answers_to_parents(
    weft: Weft, outside: Outside, tmp_path: Path
) -> None:
    with outside.running():
        child: dict[str, object] = {"script": 'echo "$WEFT_ANSWERS"', "parents": ["look"]}
        batch = submit(weft, tmp_path, [{"name": "look", "wait": {"for": "approval"}}, child])
        weft.told("answer", f"{batch}.j1", "--set", "n=7")
        weft.told("wait", batch)
        assert json.loads(weft.told("logs", f"{batch}.j2"))["look"]["values"] == {"n": 7}
