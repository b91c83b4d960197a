"""`weft exec` and `weft forward`, as a user runs them beside a job."""

import json
import os
import re
import signal
import socket
import sys
import termios
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, nullcontext
from pathlib import Path

import httpx
import pytest

from e2e.conftest import Weft, kill_api, until
from e2e.terminal import Terminal, on_terminal, script_of
from e2e.test_workers_outside import Outside, submit
from weft import Client
from weft.client.http.exec_calls import ExecLost
from weft_exec.command import BadPort, ForwardFailed, NoTerminal, PortTaken
from worker.spawner_process import marked

pytestmark = pytest.mark.heavy
Place = Callable[..., str]


@pytest.fixture(params=["here", "outside"])
def place(request: pytest.FixtureRequest, weft: Weft, tmp_path: Path) -> Iterator[Place]:
    """Give what submits one job, for a worker here or for one outside; it is cancelled."""
    batches = []

    def run(**job: object) -> str:
        is_here = request.param == "here"
        batches.append(weft.submit(job) if is_here else submit(weft, tmp_path, [job]))
        name = f"{batches[-1]}.j1"
        until(lambda: json.loads(weft.told("status", name, "--json"))["started_at"] is not None)
        return name

    with nullcontext() if request.param == "here" else Outside(weft, tmp_path).running():
        yield run
        until(lambda: weft.run("cancel", *batches).returncode != ExecLost.exit_code)  # by an api


@pytest.fixture
def sleeping(place: Place) -> str:
    """Give the name of a job that runs."""
    return place(command=["sleep", "1000"])


def test_command_runs_beside_a_job(weft: Weft, place: Place, tmp_path: Path) -> None:
    data, name = bytes(range(256)) * 20_000, place(command=["sleep", "1000"], env={"X": "y"})
    with Client(home=weft.home) as client:
        job = client.get_job(name)
        copied = weft.run("exec", name, "--", "sh", "-c", "cat; echo $X >&2; exit 3", stdin=data)
        unread = job.exec(["true"], stdin=data)
        large = job.exec(["head", "-c", "100000000", "/dev/zero"])
        begun = tmp_path / "begun"
        words = ("exec", "-n", name, "--", "sh", "-c", f"touch {begun}; sleep 1000")
        for number in (signal.SIGINT, signal.SIGKILL):
            with weft.started(*words) as running:
                until(begun.exists)
                running.send_signal(number)
                running.wait(60)
            assert running.returncode == (130 if number == signal.SIGINT else -number)
            until(lambda: not marked("WEFT_EXEC="))
            begun.unlink()
        trail = json.loads(weft.run("trail", "--json").stdout)
        with weft.started(*words) as running:
            until(begun.exists)
            kill_api(weft)
            running.wait(60)
        assert running.returncode == ExecLost.exit_code
        until(lambda: not marked("WEFT_EXEC="))

    assert (copied.stdout, copied.stderr, copied.returncode) == (data, b"y\n", 3)
    assert (unread.exit_code, len(large.stdout)) == (0, 100_000_000)
    assert f"/v1/batches/{name[1:-3]}/jobs/1/exec true" in {one["path"] for one in trail}


@contextmanager
def shell(weft: Weft, name: str, script: str = "", *, ahead: str = "") -> Iterator[Terminal]:
    """Give a shell beside a job, once it asks for a line. `ahead`: typed before that."""
    words = ("exec", "-t", name, "--", "env", "PS1=line:", "sh", *(("-c", script) * bool(script)))
    with on_terminal(script_of(*words), weft.environment()) as terminal:
        termios.tcsetwinsize(terminal.master, (33, 101))
        terminal.type(ahead)
        terminal.until("line:")
        yield terminal


def test_command_has_a_terminal(weft: Weft, sleeping: str) -> None:
    refused = weft.run("exec", "-t", sleeping, "--", "sh", stdin=b"")
    with shell(weft, sleeping, ahead="echo ahe''ad\r") as terminal:
        terminal.until("ahead\r\n")
        terminal.type("ps -o tty= -p $$; tty; echo is $TERM\r")
        facts = terminal.until("is xterm-256color")
        terminal.until("line:")
        terminal.type("sleep 1000\r")
        until(lambda: len(marked("WEFT_EXEC=")) > 1)
        terminal.type("\x03")
        terminal.until("line:")
        terminal.type("until stty size | grep ^44; do sleep 0.1; done; exit 7\r")
        termios.tcsetwinsize(terminal.master, (44, 77))
        terminal.process.send_signal(signal.SIGWINCH)
        terminal.until("\r\n44 77")
        code, mode = terminal.finish(), termios.tcgetattr(terminal.master)

    assert refused.returncode == NoTerminal.exit_code
    assert b"Standard input is not a terminal." in refused.stderr
    assert re.search(r"\r\n(pts/\d+) *\r\n/dev/\1\r\n", facts)
    assert code == 7
    assert mode[3] & termios.ICANON


DEAF = "trap '' HUP TERM INT; printf line:; sleep 1000; sleep 1000"


@pytest.mark.parametrize("script", ["", DEAF], ids=["shell", "deaf"])
def test_command_ends_with_its_terminal(weft: Weft, sleeping: str, script: str) -> None:
    """However the client ends, the terminal is as it was, and nothing is left of the command."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGKILL):
        with shell(weft, sleeping, script) as terminal:
            assert not termios.tcgetattr(terminal.master)[3] & termios.ICANON
            terminal.process.send_signal(number)
            code, mode = terminal.finish(), termios.tcgetattr(terminal.master)
        assert code == (-number if number == signal.SIGKILL else 128 + number)
        assert bool(mode[3] & termios.ICANON) == (number != signal.SIGKILL)
        until(lambda: not marked("WEFT_EXEC="))
    with shell(weft, sleeping, script) as terminal:
        kill_api(weft)
        code, mode = terminal.finish(), termios.tcgetattr(terminal.master)
    assert (code, bool(mode[3] & termios.ICANON)) == (ExecLost.exit_code, True)
    until(lambda: not marked("WEFT_EXEC="))


SERVER = """
import http.server, pathlib, socketserver, sys, threading
class Echo(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["content-length"]))
        self.send_response(200)
        self.end_headers()
        self.wfile.write(body)
class First(socketserver.StreamRequestHandler):
    def handle(self):
        self.wfile.write(bytes(range(256)) * 40_000)
        self.connection.shutdown(1)
        pathlib.Path(sys.argv[1], "got").write_bytes(self.rfile.read())
servers = [http.server.ThreadingHTTPServer(("127.0.0.1", 0), Echo),
           socketserver.TCPServer(("127.0.0.1", 0), First)]
for one in servers:
    threading.Thread(target=one.serve_forever).start()
    pathlib.Path(sys.argv[1], type(one).__name__).write_text(str(one.server_address[1]))
"""
"""The second ends its direction before it reads."""


def test_ports_of_a_job_are_reached(weft: Weft, place: Place, tmp_path: Path) -> None:
    data = bytes(range(256)) * 40_000
    job = place(command=[sys.executable, "-c", SERVER, str(tmp_path)])
    names = [tmp_path / name for name in ("ThreadingHTTPServer", "TCPServer")]
    until(lambda: all(path.exists() and path.read_text() for path in names))
    http_port, raw_port = (path.read_text() for path in names)
    with (
        weft.started("forward", job, f":{http_port}", "--json") as first,
        weft.started("forward", job, f":{raw_port}", "--json") as second,
        weft.started("forward", job, ":1", "--json") as third,
    ):
        ready = [json.loads(one.stdout.readline()) for one in (first, second, third)]
        with ThreadPoolExecutor(20) as pool:
            bodies = [data, *(data[: 1000 * number + 1] for number in range(19))]
            url = ready[0]["url"]
            answers = pool.map(lambda body: httpx.post(url, content=body, timeout=60), bodies)
            assert [answer.content for answer in answers] == bodies
        with socket.create_connection((ready[1]["host"], ready[1]["port"]), 60) as raw:
            assert raw.makefile("rb").read() == data
            raw.sendall(data)
        until(lambda: (tmp_path / "got").exists() and (tmp_path / "got").read_bytes() == data)
        with socket.create_connection((ready[2]["host"], ready[2]["port"]), 60) as nobody:
            assert nobody.recv(1) == b""
        said = third.stderr.readline()
        in_use = weft.run("forward", job, f"{ready[0]['port']}:1")
        third.send_signal(signal.SIGINT)
        until(lambda: len(marked("WEFT_EXEC=")) == 2)
        for pid in marked("WEFT_EXEC="):
            if Path(f"/proc/{pid}/cmdline").read_text().endswith(f"\0{raw_port}\0"):
                os.kill(pid, signal.SIGKILL)
        second.wait(60)
        weft.told("cancel", job.partition(".")[0])
        codes = [one.wait(60) for one in (first, second, third)]
        last = first.stderr.read().decode()

    assert codes == [128 + signal.SIGKILL, ForwardFailed.exit_code, 128 + signal.SIGINT]
    assert f"{job} has ended, and the forward with it" in last
    assert f"nobody listens at port 1 of {job}" in said.decode()
    assert in_use.returncode == PortTaken.exit_code
    trail = json.loads(weft.told("trail", "--json"))
    assert sum(one["path"].endswith(f"/exec port {http_port}") for one in trail) == 1


@pytest.mark.parametrize("port", ["0", "65536", "x", "", "-1", "1:", "0:1", "1:2:3", "9" * 5000])
def test_port_that_cannot_be_is_refused(weft: Weft, port: str) -> None:
    refused = weft.run("forward", "b1.j1", "--", port)

    assert (refused.returncode, b"no port" in refused.stderr) == (BadPort.exit_code, True)


def test_command_ends_with_the_link_of_its_worker(weft: Weft, tmp_path: Path) -> None:
    with Outside(weft, tmp_path).behind() as outside, outside.running():
        job = submit(weft, tmp_path, [{"command": ["sleep", "1000"]}]) + ".j1"
        until(lambda: weft.run("exec", "-n", job, "--", "true").returncode == 0)
        with shell(weft, job) as terminal:
            outside.middle.cut()
            code, mode = terminal.finish(), termios.tcgetattr(terminal.master)
        until(lambda: not marked("WEFT_EXEC="))
        outside.middle.mend()
        until(lambda: weft.run("exec", "-n", job, "--", "true").returncode == 0)
        weft.told("cancel", job.partition(".")[0])
    assert (code, bool(mode[3] & termios.ICANON)) == (ExecLost.exit_code, True)
