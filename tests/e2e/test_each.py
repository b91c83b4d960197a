"""`weft each`: as xargs and GNU parallel, but on record."""

import json
import os
import select
import signal
import subprocess
from pathlib import Path

import pytest

from e2e.conftest import PROGRAM, Weft
from e2e.terminal import on_terminal, script_of

pytestmark = pytest.mark.slow


def in_shell(weft: Weft, script: str) -> "subprocess.CompletedProcess[bytes]":
    """Run a line of shell in which "$@" is weft."""
    return subprocess.run(
        ["sh", "-c", script, "sh", *PROGRAM],
        check=False,
        capture_output=True,
        env=weft.environment(),
        timeout=60,
    )


def test_outputs_come_in_input_order(weft: Weft) -> None:
    given = "".join(f"{n}\n" for n in range(50, 0, -1)).encode()
    command = "sleep 0.0{}; echo {}; echo err {} >&2"
    done = weft.run("each", "--", "sh", "-c", command, stdin=given)

    assert done.returncode == 0
    assert done.stdout == given
    assert done.stderr.count(b"err ") == 50
    assert b"50 succeeded" in done.stderr


def test_unordered_outputs_come_as_the_jobs_end(weft: Weft) -> None:
    done = weft.run(
        "each",
        "--unordered",
        "--cpu",
        "0.1",
        "--memory",
        "16Mi",
        "--",
        "sh",
        "-c",
        "sleep {}; echo {}",
        stdin=b"1\n0\n",
    )

    assert done.stdout.split() == [b"0", b"1"]


def test_a_failure_is_exit_code_1_with_the_list_of_those(weft: Weft) -> None:
    done = weft.run("each", "--", "sh", "-c", "test {} != 7", stdin=b"1\n7\n3\n")

    assert done.returncode == 1
    assert b"2 succeeded, 1 failed" in done.stderr
    assert b"j2  7  exit code 1" in done.stderr
    assert b"--resume" in done.stderr


def test_lines_are_one_argument_whatever_is_in_them(weft: Weft) -> None:
    lines = ["a b  c", "it's", '"quoted"', "$HOME `id` \\n", "*", "-n", "ä€", " lead and trail "]
    given = "".join(line + "\n" for line in lines).encode()
    done = weft.run("each", "--", "printf", "<%s>", stdin=given)

    assert done.stdout.decode() == "".join(f"<{line}>" for line in lines)


def test_items_between_nul_may_hold_newlines(weft: Weft) -> None:
    done = weft.run("each", "-0", "--", "printf", "<%s>", stdin=b"a\nb\0c d\0")

    assert done.stdout == b"<a\nb><c d>"


def test_more_at_a_time_than_fit_is_told(weft: Weft) -> None:
    cores = int(json.loads(weft.told("worker", "ls", "--json"))[0]["cpu"])
    for words in (("each", "-j"), ("each", "--xargs", "-n", "1", "-P")):
        done = weft.run(*words, str(2 * cores), "--", "true", stdin=b"a\nb\n")
        assert f"of {2 * cores} jobs {cores} fit".encode() in done.stderr
        assert b"`--cpu 0.5` makes room" in done.stderr
        less = weft.run(*words, str(2 * cores), "--cpu", "0.5", "--", "true", stdin=b"a\n")
        assert b"fit the workers" not in less.stderr


def test_names_of_files_run_nothing_in_a_script(weft: Weft, tmp_path: Path) -> None:
    """Nor in the command that a hint tells; what cannot be quoted fails alone."""
    names = ["plain", "a b", ";touch PWNED;", "$(touch PWNED)", "it's", "x\ntouch PWNED"]
    for name in names:
        (tmp_path / name).write_text("1\n")
    listed = "".join(f"{name}\0" for name in names).encode()
    for script in ("cat {} | wc -l", "cat '{}' | wc -l", 'cat "{}" | wc -l'):
        words = ("each", "-0", "--", "sh", "-c", script)
        done = weft.run(*words, stdin=listed, cwd=tmp_path)
        assert (done.returncode, done.stdout) == (0, b"1\n" * len(names)), done.stderr
    words = ("each", "-0", "--", "sh", "-c", "echo $(cat {})")
    done = weft.run(*words, stdin=listed, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (1, b"1\n")
    assert b"line 2: a b  the shell could run it: write" in done.stderr
    assert sorted(one.name for one in tmp_path.iterdir()) == sorted(names)


def test_find_print0_and_placeholders(weft: Weft, tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "x y.tar.gz").write_text("one\n")
    found = subprocess.run(
        ["find", ".", "-type", "f", "-print0"], cwd=tmp_path, check=True, capture_output=True
    )
    done = weft.run(
        "each", "-0", "--", "echo", "{}|{/}|{//}|{.}|{/.}|{#}", stdin=found.stdout, cwd=tmp_path
    )

    expected = b"./sub/x y.tar.gz|x y.tar.gz|./sub|./sub/x y.tar|x y.tar|1\n"
    assert done.stdout == expected


def test_the_file_of_lines(weft: Weft, tmp_path: Path) -> None:
    file = tmp_path / "lines"
    file.write_text("a\nb")
    done = weft.run("each", "-f", str(file), "--", "echo")
    missing = weft.run("each", "-f", str(file) + "x", "--", "echo")
    hyphen = weft.run("each", "-f", "-", "--", "echo", stdin=b"c\n")

    assert hyphen.stdout == b"c\n"
    assert done.stdout == b"a\nb\n"
    assert missing.returncode == 2
    assert b"No such file" in missing.stderr


@pytest.mark.parametrize(
    ("options", "bad", "told"),
    [
        ([], b"bad \0", [b"line 2: bad", b"it contains a NUL character"]),
        ([], b"x" * 200_000, [b"2 succeeded, 1 failed", b"  line 2: xxx"]),
        (["-s", "15"], b"x" * 15, [b"at most 15 (-s)"]),
    ],
    ids=["NUL", "long", "long for -s"],
)
def test_a_line_that_cannot_travel_fails_and_the_others_run(
    weft: Weft, options: list[str], bad: bytes, told: list[bytes]
) -> None:
    done = weft.run("each", *options, "--", "echo", stdin=b"good\n%s\nalso good\n" % bad)

    assert (done.returncode, done.stdout) == (1, b"good\nalso good\n")
    assert [one for one in told if one not in done.stderr] == []


def test_a_closed_output_ends_it_quietly_and_cancels_the_rest(weft: Weft) -> None:
    script = 'seq 5000 | "$@" each --name closed -- sh -c "echo {}; sleep 0.02" | head -1'
    done = in_shell(weft, script)

    assert done.stdout == b"1\n"
    assert done.stderr == b""
    batch = json.loads(weft.run("ls", "--json", "--name", "closed").stdout)[0]
    assert batch["cancelled"]


def test_an_output_that_cannot_be_written_is_told_and_cancels_the_rest(weft: Weft) -> None:
    script = 'seq 5000 | "$@" each --name full -- echo >/dev/full'
    done = in_shell(weft, script)

    assert done.returncode == 1
    assert b"weft: cannot write the output\n  No space left on device.\n" in done.stderr
    assert b"--resume full" in done.stderr
    batch = json.loads(weft.run("ls", "--json", "--name", "full").stdout)[0]
    assert batch["cancelled"]


def test_resume_runs_what_did_not_succeed_and_gives_the_output_of_all(
    weft: Weft, tmp_path: Path
) -> None:
    command = (
        f"echo {{}} >> {tmp_path}/ran; echo out {{}}; test -e {tmp_path}/fixed || test {{}} != b"
    )
    words = ("--joblog", str(tmp_path / "log"), "--", "sh", "-c", command)
    first = weft.run("each", "--name", "r", *words, stdin=b"a\nb\na\n")
    (tmp_path / "fixed").touch()
    more = b"a\nb\na\nnew\na\n"
    second = weft.run("each", "--resume", "r", *words, stdin=more)
    log = (tmp_path / "log").read_text()
    third = weft.run(
        "each", "--resume", "r", "--results", str(tmp_path / "all"), *words, stdin=more
    )
    other = weft.run("each", "--resume", "r", "--only-new", "--", "echo", stdin=more)

    logs = weft.run("logs", "r", "--plain")

    assert first.returncode == 1
    whole = b"out a\nout b\nout a\nout new\nout a\n"
    assert (second.returncode, second.stdout) == (0, whole), second.stderr
    assert b"2 had succeeded before, 2 printed again" in second.stderr
    assert [line.split("\t")[0] for line in log.splitlines()] == ["Seq", *"12345"]
    assert (third.returncode, third.stdout) == (0, whole)
    assert b"all 5 lines succeeded before, 5 printed again" in third.stderr
    assert b"the command was" not in third.stderr
    assert (logs.returncode, logs.stdout) == (0, whole), logs.stderr
    assert (tmp_path / "all/1/new/stdout").read_text() == "out new\n"
    assert (other.returncode, other.stdout) == (0, b"")
    assert b"the command was `sh -c " in other.stderr
    assert sorted((tmp_path / "ran").read_text().split()) == ["a", "a", "a", "b", "b", "new"]


def test_resume_of_what_never_was_is_refused(weft: Weft) -> None:
    done = weft.run("each", "--resume", "never", "--", "echo", stdin=b"a\n")

    assert done.returncode == 2
    assert b"never" in done.stderr


def test_interrupt_cancels_and_says_how_to_go_on(weft: Weft, tmp_path: Path) -> None:
    script = f"echo {{}}; test {{}} -lt 3 || test -e {tmp_path}/fast || sleep 4321.{os.getpid()}"
    command = ("each", "--name", "i", "--", "sh", "-c", script)
    with weft.started(*command, stdin=subprocess.PIPE) as process:
        process.stdin.write(b"".join(b"%d\n" % n for n in range(1, 30)))
        process.stdin.flush()
        assert process.stdout.readline() == b"1\n"
        assert process.stdout.readline() == b"2\n"
        process.send_signal(signal.SIGINT)
        _, told = process.communicate(timeout=30)

    assert process.returncode == 130
    assert b"--resume i" in told
    listed = subprocess.run(["ps", "-eo", "args"], check=True, capture_output=True, text=True)
    assert listed.stdout.count(f"sleep 4321.{os.getpid()}") == 0
    (tmp_path / "fast").touch()
    given = b"".join(b"%d\n" % n for n in range(1, 30))
    done = weft.run("each", "--resume", "i", "--", "sh", "-c", script, stdin=given)
    assert done.returncode == 0
    assert done.stdout.split() == [b"%d" % n for n in range(1, 30)]


def test_at_most_so_many_run_at_once(weft: Weft, tmp_path: Path) -> None:
    script = f"mkdir {tmp_path}/alone && sleep 0.05 && rmdir {tmp_path}/alone"
    done = weft.run(
        "each",
        "-j",
        "1",
        "--cpu",
        "0.1",
        "--memory",
        "16Mi",
        "--",
        "sh",
        "-c",
        script,
        stdin=b"1\n2\n3\n4\n5\n6\n",
    )

    assert done.returncode == 0, done.stderr


LONG = b"b" * 400 + b"\n"


def test_json_has_one_line_per_job(weft: Weft) -> None:
    done = weft.run(
        "each", "--json", "--", "sh", "-c", "echo {}; test {} = a", stdin=b"a\n" + LONG
    )

    rows = [json.loads(line) for line in done.stdout.splitlines()]
    assert done.returncode == 1
    assert [(r["line"], r["stdout"], r["exit_code"]) for r in rows] == [
        ("a", "a\n", 0),
        ("b" * 400, "b" * 400 + "\n", 1),
    ]
    assert weft.run("each", "--tag", "--", "echo", stdin=LONG).stdout == LONG[:-1] + b"\t" + LONG
    summary = json.loads(done.stderr)
    assert (summary["n_succeeded"], summary["n_failed"]) == (1, 1)


def test_a_missing_program_is_told_once_per_line(weft: Weft) -> None:
    done = weft.run("each", "--", "no-such-program-anywhere", stdin=b"a\nb\n")

    assert done.returncode == 127
    assert done.stderr.count(b"program not found") == 2


def test_lines_of_a_terminal_are_asked_for(weft: Weft) -> None:
    with on_terminal(script_of("each", "--", "echo"), weft.environment()) as terminal:
        terminal.until("reading lines from the terminal; end with Ctrl-D")
        terminal.type("one line\n\x04")
        terminal.until("1 succeeded")

        assert terminal.finish() == 0


def test_a_pipe_in_quotes_is_told_to_need_a_shell(weft: Weft) -> None:
    each = weft.run("each", "--", "echo {} | wc", stdin=b"a\n")
    run = weft.run("run", "--", "echo a | wc")

    assert b"needs a shell: `weft each -- sh -c 'echo {} | wc'`" in each.stderr
    assert b"needs a shell: `weft run -- sh -c 'echo a | wc'`" in run.stderr


@pytest.mark.heavy
def test_many_lines_are_read_no_faster_than_they_run(weft: Weft) -> None:
    """The window is bounded: the reader of an endless input stops when nothing is printed."""
    with weft.started("each", "-j", "1", "--", "sleep", "4321", stdin=subprocess.PIPE) as process:
        os.set_blocking(process.stdin.fileno(), False)
        written = _write_until_stuck(process.stdin.fileno(), b"x" * 99 + b"\n", 1_000_000)
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=60)

    assert written < 20_000_000
    assert process.returncode == 130


def _write_until_stuck(descriptor: int, line: bytes, least: int) -> int:
    """Write until the pipe is full and stays so; return how much went in. Wait as long as it may
    take for the least that goes in: a busy machine reads it with pauses.
    """
    written = os.write(descriptor, line * 10_000)
    while select.select([], [descriptor], [], 1 if written > least else 60)[1]:
        written += os.write(descriptor, line * 100)
    assert written > least
    return written


@pytest.mark.heavy
def test_each_survives_a_restart_of_the_server(tmp_path: Path) -> None:
    own = Weft(tmp_path / "home")
    assert own.run("up", "--port", "0", "--detach").returncode == 0
    try:
        command = ("each", "--", "sh", "-c", "echo {}; sleep 0.05")
        with own.started(*command, stdin=subprocess.PIPE) as process:
            process.stdin.write(b"".join(b"%d\n" % n for n in range(100)))
            process.stdin.close()
            first = process.stdout.readline()
            assert own.run("down").returncode == 0
            assert own.run("up", "--port", "0", "--detach").returncode == 0
            rest = process.stdout.read()
            assert process.wait(90) == 0
    finally:
        own.run("down")

    assert (first + rest).split() == [b"%d" % n for n in range(100)]
