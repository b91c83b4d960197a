"""`weft run`: as if the command ran here."""

import json
import os
import signal
import subprocess
import time
from pathlib import Path

import pytest

from e2e.conftest import PROGRAM, Weft

pytestmark = pytest.mark.slow


def test_output_on_the_right_streams_and_the_exit_code(weft: Weft) -> None:
    done = weft.run("run", "--", "sh", "-c", "echo hi; echo oops >&2; exit 3")

    assert (done.returncode, done.stdout, done.stderr) == (3, b"hi\n", b"oops\n")


def test_the_job_has_the_callers_directory_and_environment(weft: Weft, tmp_path: Path) -> None:
    env = {"MY_VARIABLE": "ä b", "WEFT_TOKEN_NOT": "x"}
    done = weft.run("run", "--", "sh", "-c", 'pwd; echo "$MY_VARIABLE"', cwd=tmp_path, env=env)

    assert done.stdout.decode() == f"{tmp_path}\nä b\n"


def test_arguments_arrive_as_they_were_given(weft: Weft) -> None:
    words = ["a b", "", "'\"", "*", "$HOME", "--json", "-x", "ä\n", "\\"]
    done = weft.run("run", "--", "printf", "<%s>", *words)

    assert done.stdout.decode() == "".join(f"<{word}>" for word in words)


def test_standard_input_reaches_the_job(weft: Weft) -> None:
    done = weft.run("run", "--", "wc", "-c", stdin="zwölf\n".encode())

    assert (done.returncode, done.stdout.split()) == (0, [b"7"])


def test_standard_input_that_cannot_travel_is_refused(weft: Weft) -> None:
    done = weft.run("run", "--", "wc", "-c", stdin=b"\xff\xfe")

    assert done.returncode == 2
    assert b"UTF-8" in done.stderr
    done = weft.run("run", "--json", "--", "wc", "-c", stdin=b"x" * (2 << 20))
    assert json.loads(done.stderr)["code"] == "CLI.STDIN_TOO_LARGE"


@pytest.mark.parametrize(
    ("command", "code", "told"),
    [
        (["sh", "-c", "kill -9 $$"], 137, b"SIGKILL"),
        (["sh", "-c", "kill -15 $$"], 143, b"SIGTERM"),
        (["/no/such/program"], 127, b"/no/such/program"),
        (["no-such-program-anywhere"], 127, b"no-such-program-anywhere"),
        (["true"], 0, b""),
    ],
)
def test_exit_codes_are_those_of_a_shell(
    weft: Weft, command: list[str], code: int, told: bytes
) -> None:
    done = weft.run("run", "--", *command)

    assert done.returncode == code
    assert told in done.stderr


def test_a_time_limit_is_told(weft: Weft) -> None:
    done = weft.run("run", "--timeout", "0.2", "--", "sleep", "60")

    assert done.returncode == 124
    assert b"time" in done.stderr


def test_raw_bytes_pass_through(weft: Weft) -> None:
    done = weft.run("run", "--", "printf", r"\000\377\033[31m")

    assert done.stdout == b"\0\xff\x1b[31m"


def test_output_comes_while_the_job_runs(weft: Weft, tmp_path: Path) -> None:
    fifo = tmp_path / "go"
    os.mkfifo(fifo)
    script = f"echo first; cat {fifo}; echo last"
    with weft.started("run", "--", "sh", "-c", script) as process:
        first = process.stdout.readline()
        with fifo.open("w") as go:
            go.write("between\n")

        assert first == b"first\n"
        assert process.communicate(timeout=30)[0] == b"between\nlast\n"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGHUP])
def test_interrupt_kills_the_whole_process_tree(weft: Weft, tmp_path: Path, number: int) -> None:
    """Also when the terminal to which it would be told goes away."""
    pids = tmp_path / "pids"
    script = f"sleep 1234 & echo $! > {pids}; setsid sleep 1234 & echo $! >> {pids}; echo up; wait"
    with weft.started("run", "--", "sh", "-c", script) as process:
        assert process.stdout.readline() == b"up\n"
        if number == signal.SIGHUP:
            process.stderr.close()
        process.send_signal(number)
        told = "" if process.stderr.closed else process.stderr.read().decode()

        assert process.wait(30) == 130
    known = "weft: the job is being cancelled; Ctrl-C again leaves at once\n"
    assert process.stderr.closed or known in told
    listed = subprocess.run(["ps", "-eo", "args"], check=True, capture_output=True, text=True)
    assert listed.stdout.count("sleep 1234") == 0


def test_json_has_everything(weft: Weft) -> None:
    done = weft.run("run", "--json", "--", "sh", "-c", "echo hi; echo oops >&2; exit 3")

    document = json.loads(done.stdout)
    assert done.returncode == 3
    assert document["stdout"] == "hi\n"
    assert document["stderr"] == "oops\n"
    assert document["state"] == "failed"
    assert document["exit_code"] == 3


def test_the_trace_of_the_request_reaches_the_job(weft: Weft) -> None:
    done = weft.run("run", "--json", "--", "sh", "-c", "echo $WEFT_TRACE_ID; echo $TRACEPARENT")
    seen, parent = json.loads(done.stdout)["stdout"].split()
    batch = json.loads(weft.run("ls", "--json").stdout)[0]

    assert seen == batch["trace_id"]
    assert parent.split("-")[:2] == ["00", seen]


def test_a_job_that_cannot_fit_is_refused_with_the_reason(weft: Weft) -> None:
    done = weft.run("run", "--memory", "900Ti", "--", "true")

    assert done.returncode == 2
    assert done.stdout == b""
    assert b"more than any worker has" in done.stderr


def test_a_reader_that_goes_away_ends_the_job(weft: Weft) -> None:
    script = "while echo y; do sleep 0.01; done"
    with weft.started("run", "--", "sh", "-c", script) as process:
        process.stdout.readline()
        process.stdout.close()

        assert process.wait(30) == 141


def test_a_run_takes_little_longer_than_its_parts(weft: Weft) -> None:
    """A busy machine slows all commands alike."""

    def shortest_s(*command: str) -> float:
        times = []
        for _ in range(3):
            began = time.monotonic()
            weft.run(*command)
            times.append(time.monotonic() - began)
        return min(times)

    assert shortest_s("run", "--", "true") < 2 + 4 * shortest_s("ls")


def test_output_that_cannot_be_written_ends_the_job(weft: Weft) -> None:
    done = subprocess.run(
        ["sh", "-c", '"$@" run -- yes >/dev/full', "sh", *PROGRAM],
        check=False,
        capture_output=True,
        env=weft.environment(),
        timeout=60,
    )

    assert done.returncode == 1
    assert done.stderr.startswith(b"weft: cannot write the output\n  No space left on device.\n")
    batch = json.loads(weft.run("ls", "--json", "--name", "yes").stdout)[0]
    assert batch["cancelled"]
