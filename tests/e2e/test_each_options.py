"""`weft each` beside xargs and GNU parallel: the options of both, on real jobs."""

import json
import subprocess
from pathlib import Path

import pytest

from e2e.conftest import Weft
from e2e.tmux import program

pytestmark = pytest.mark.heavy


def other(*words: str, stdin: bytes = b"", cwd: Path | None = None) -> bytes:
    """Return what xargs or parallel prints."""
    done = subprocess.run(
        [program(words[0]), *words[1:]], check=False, capture_output=True, input=stdin, cwd=cwd
    )
    return done.stdout


SAME_AS_XARGS = [
    (["-n", "2", "echo"], b"1\n2\n3\n4\n5\n"),
    (["-n2", "echo", "a"], b"1\n2\n3\n4\n5\n"),
    (["-L", "2", "echo"], b"1\n2\n3\n"),
    (["-s", "20", "echo"], b"".join(b"%d\n" % n for n in range(30))),
    (["-n", "3", "-s", "14", "echo"], b"".join(b"%d\n" % n for n in range(30))),
    (["-I", "%", "echo", "<%>", "{}"], b"a b\nc\n"),
    (["-d", ",", "-n1", "echo"], b"a,b,,c"),
    (["-d", "\\t", "-n1", "echo"], b"a\tb c"),
    (["-d", "\\x2c", "-n1", "echo"], b"a,b"),
    (["-d", "\\n", "-n1", "printf", "<%s>\\n"], b"a\n\nit's\n"),
    (["-0", "-n1", "echo"], b"a\0\0b\nc\0"),
    (["-P", "2", "-n1", "echo"], b"1\n"),
]


SAME_AS_PARALLEL = [
    (["echo", "x{}", ":::", "a b", "$c"], b""),
    (["echo", "{2}-{1}", ":::", "a", "b", ":::", "1", "2"], b""),
    (["echo", "{1/.}", "{2//}", "{1.}", ":::", "a/b.c", ":::", "d/e"], b""),
    (["-N", "2", "echo", "x{}", "{2}"], b"1\n2\n3\n4\n"),
    (["--colsep", ",", "echo", "{2}", "{1}", "{-1}", "x{}y"], b"a,b\nc,d\n"),
    (["--tag", "echo", "{}", ":::", "a", "b"], b""),
]


@pytest.mark.parametrize(
    ("program", "words", "given"),
    [("xargs", *one) for one in SAME_AS_XARGS]
    + [("parallel -k", *one) for one in SAME_AS_PARALLEL],
)
def test_the_same_as(weft: Weft, program: str, words: list[str], given: bytes) -> None:
    expected = other(*program.split(), *words, stdin=given)
    place = words.index(next(word for word in words if word in {"echo", "printf"}))
    done = weft.run("each", *words[:place], "--", *words[place:], stdin=given)

    assert (done.returncode, done.stdout) == (0, expected), done.stderr


def test_results_lie_where_parallel_puts_them(weft: Weft, tmp_path: Path) -> None:
    values = [":::", "a/b", "c d", "..", ":::", "1"]
    weft.run("each", "--results", "ours", "--", "echo", *values, cwd=tmp_path)
    other("parallel", "--results", "theirs", "echo", *values, cwd=tmp_path)

    ours, theirs = (
        {str(file.relative_to(tmp_path / top)) for file in (tmp_path / top).rglob("*")}
        for top in ("ours", "theirs")
    )
    assert ours >= {"1/a\\_b/2/1/stdout", "1/c d/2/1/stderr", "1/c d/2/1/seq", "1/\\../2/1/stdout"}
    assert (tmp_path / "ours/1/c d/2/1/stdout").read_bytes() == b"c d 1\n"
    # There `..` is a directory above, so parallel writes beside it.
    assert {name for name in theirs if name.startswith("1/") and "/2" in name} <= ours


def test_the_joblog_has_the_columns_of_parallel(weft: Weft, tmp_path: Path) -> None:
    words = ["--", "sh", "-c", "echo ab; exit {}", ":::", "0", "3"]
    weft.run("each", "--joblog", "ours", *words, cwd=tmp_path)
    other("parallel", "--joblog", "theirs", "exit {}", ":::", "0", cwd=tmp_path)

    head, *rows = (line.split("\t") for line in (tmp_path / "ours").read_text().splitlines())
    assert "\t".join(head) == (tmp_path / "theirs").read_text().splitlines()[0]
    seen = [(row[0], row[5], row[6], row[7], row[8]) for row in rows]
    assert seen == [
        ("1", "3", "0", "0", "sh -c 'echo ab; exit 0'"),
        ("2", "3", "3", "0", "sh -c 'echo ab; exit 3'"),
    ]
    assert all(float(row[2]) > 1e9 and float(row[3]) >= 0 for row in rows)


@pytest.mark.parametrize("option", ["--joblog", "--results"])
def test_a_record_that_cannot_be_written_stops_before_the_first_job(
    weft: Weft, option: str
) -> None:
    done = weft.run("each", "--json", option, "/proc/nothing/here", "--", "echo", ":::", "a")

    problem = json.loads(done.stderr)
    assert (done.returncode, done.stdout) == (2, b"")
    assert problem["code"] == "CLI.CANNOT_RECORD"
    assert problem["title"].startswith("cannot write /proc/nothing")


def test_a_dry_run_prints_commands_for_a_shell_and_runs_nothing(
    weft: Weft, tmp_path: Path
) -> None:
    words = ["--", "touch", "{}", ":::", "it's", "a b"]
    done = weft.run("each", "--dry-run", *words, cwd=tmp_path)
    as_json = weft.run("each", "--dry-run", "--json", *words, cwd=tmp_path)

    assert not list(tmp_path.iterdir())
    assert [json.loads(line)["command"] for line in as_json.stdout.splitlines()] == [
        ["touch", "it's"],
        ["touch", "a b"],
    ]
    subprocess.run(["sh", "-c", done.stdout], check=True, cwd=tmp_path)
    assert {file.name for file in tmp_path.iterdir()} == {"it's", "a b"}


@pytest.mark.parametrize(
    ("script", "exit_code"), [("exit 0", 0), ("exit 3", 1), ("exit 255", 124), ("kill -9 $$", 125)]
)
def test_the_exit_code_tells_how_jobs_failed(weft: Weft, script: str, exit_code: int) -> None:
    done = weft.run("each", "--", "sh", "-c", script, ":::", "1")

    assert done.returncode == exit_code


XARGS = [
    (["-n2", "-t", "echo"], b"a 'b c'\n d\n"),
    (["-I%", "sh", "-c", "%"], b"echo one\nexit 3\necho two\n"),
    (["-I%", "sh", "-c", "%"], b"echo one\nexit 255\necho two\n"),
    (["-I%", "sh", "-c", "%"], b"echo one\nkill -9 $$\necho two\n"),
    (["-n1", "./missing"], b"a b"),
    (["-s14", "echo"], b"1 22 4444444444444\n5\n"),
    (["echo"], b"a 'b\n"),
    (["echo", "nothing"], b""),
    (["-r", "echo", "nothing"], b""),
]


@pytest.mark.parametrize(("words", "given"), XARGS)
def test_xargs_mode_prints_and_exits_as_xargs(weft: Weft, words: list[str], given: bytes) -> None:
    expected = subprocess.run(["xargs", *words], check=False, capture_output=True, input=given)
    place = words.index(next(word for word in words if not word.startswith("-")))
    done = weft.run("each", "--xargs", *words[:place], "--", *words[place:], stdin=given)

    assert (done.returncode, done.stdout) == (expected.returncode, expected.stdout), done.stderr
    if "-t" in words:
        assert done.stderr.startswith(expected.stderr)


@pytest.mark.parametrize("at_once", ["2", "100%"])
def test_no_two_running_jobs_have_one_slot(weft: Weft, tmp_path: Path, at_once: str) -> None:
    script = "mkdir {%} && echo {#} && rmdir {%}"
    words = ["-j", at_once, "--", "sh", "-c", script, ":::", *map(str, range(20))]
    done = weft.run("each", *words, cwd=tmp_path)

    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == [b"%d" % n for n in range(1, 21)]


def test_halt_at_a_share_of_the_whole_input(weft: Weft) -> None:
    halt = ["-j1", "--halt", "soon,fail=20%"]
    done = weft.run("each", *halt, "--json", "--", "false", stdin=b"x\n" * 10)
    end = json.loads(done.stderr)

    assert done.returncode == 1
    assert end["halted_by"] == "--halt soon,fail=20%"
    assert 2 <= end["n_failed"] < 10
    assert end["n_failed"] + end["n_cancelled"] == 10


def test_input_ends_before_the_line_of_eof(weft: Weft) -> None:
    done = weft.run("each", "-E", "END", "--", "echo", stdin=b"a\nEND\nb\n")

    assert (done.returncode, done.stdout) == (0, b"a\n")


def test_a_line_of_any_bytes_arrives(weft: Weft, tmp_path: Path) -> None:
    raw = b"bad \xff\xfe %s \\ '\"$x`"
    done = weft.run("each", "--", "printf", "<%s>", "[{}]", stdin=raw + b"\ngood\n")
    tagged = weft.run("each", "--json", "--", "cat", stdin=raw + b"\n")
    (tmp_path / "\udcff").write_text("inside")
    opened = weft.run("each", "--", "cat", cwd=tmp_path, stdin=b"\xff\n")

    assert done.returncode == 0, done.stderr
    assert done.stdout == b"<" + b"[" + raw + b"]>" + b"<[good]>"
    assert json.loads(tagged.stdout)["line"].startswith("bad \\xff\\xfe")
    assert opened.stdout == b"inside"


def test_a_failed_line_of_any_bytes_is_resumed(weft: Weft, tmp_path: Path) -> None:
    given = b"a\xff\nb\n"
    script = 'test -e ok || test "$1" = b'
    words = ["--", "sh", "-c", script, "sh"]
    first = weft.run("each", "--name", "any bytes", *words, stdin=given, cwd=tmp_path)
    (tmp_path / "ok").touch()
    again = weft.run("each", "--resume", "any bytes", *words, stdin=given, cwd=tmp_path)

    assert first.returncode == 1
    assert b"`weft each --resume 'any bytes' -- " in first.stderr
    assert again.returncode == 0
    assert b"1 succeeded, 1 had succeeded before" in again.stderr


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--", "echo", "::::", "f"], b"does not know ::::"),
        (["--colsep", "(", "--", "echo"], b"is not a regular expression"),
        (["--colsep", "x*", "--", "echo"], b"matches an empty text"),
        (["--colsep", ",", "-n", "2", "--", "echo"], b"columns cannot be combined"),
        (["-d", "ab", "--", "echo"], b"is not one character"),
        (["-0", "-d", ",", "--", "echo"], b"both say how items end"),
        (["-f", "x", "--", "echo", ":::", "a"], b"and a file of lines"),
        (["--", ":::", "a"], b"nothing to run"),
        (["-n", "0", "--", "echo"], b"must be at least 1"),
        (["-n", "2", "-L", "2", "--", "echo"], b"both say what a job gets"),
        (["-j", "x%", "--", "echo"], b"is not a number of jobs"),
        (["-j", "-many", "--", "echo"], b"weft: -j '-many' is not a number of jobs"),
        (["--xargs", "--", "echo", ":::", "a"], b"knows no columns and no values"),
        (["--halt", "now,fail=0%", "--", "true", ":::", "1"], b"is not a rule"),
    ],
)
def test_options_that_cannot_be_followed(weft: Weft, words: list[str], told: bytes) -> None:
    done = weft.run("each", *words)

    assert done.returncode == 2
    assert told in done.stderr
    assert b"Traceback" not in done.stderr


def test_a_program_reads_that_an_option_is_wrong(weft: Weft) -> None:
    done = weft.run("each", "--json", "-d", "ab", "--", "echo")

    assert json.loads(done.stderr)["code"] == "CLI.BAD_INPUT_OPTION"


def test_a_delay_keeps_all_jobs(weft: Weft) -> None:
    done = weft.run("each", "--delay", "0.01", "--", "echo", ":::", "a", "b", "c")

    assert done.stdout == b"a\nb\nc\n"


def test_retries_and_directory_of_jobs(weft: Weft, tmp_path: Path) -> None:
    script = 'pwd; test "$WEFT_ATTEMPT_NO" = 3'
    for command in ("run", "each"):
        words = ["--retries", "2", "--cwd", str(tmp_path), "--", "sh", "-c", script]
        done = weft.run(command, *words, stdin=b"x\n")
        assert (done.returncode, done.stdout.split()[-1]) == (0, str(tmp_path).encode())
        assert weft.run(command, "--retries", "1", *words[2:], stdin=b"x\n").returncode == 1


def test_run_detached_prints_the_job_and_leaves(weft: Weft) -> None:
    done = weft.run("run", "--detach", "--name", "later", "--", "sh", "-c", "echo out; exit 3")
    job = done.stdout.decode().strip()
    waited = weft.run("wait", job)
    as_json = json.loads(weft.run("run", "--detach", "--json", "--", "true").stdout)

    assert done.returncode == 0
    assert b"exit code 3" in waited.stderr
    assert weft.run("logs", job).stdout == b"out\n"
    assert json.loads(weft.run("status", "--json", job).stdout)["name"] == "later"
    assert as_json["job_id"] == 1


ENDLESS = "while true; do sleep 1; done"


def test_halt_now_stops_what_runs_and_waits(weft: Weft) -> None:
    script = f"test {{}} != 2 || exit 3; test {{}} = 1 || {{ {ENDLESS}; }}"
    done = weft.run(
        "each", "-j", "2", "--halt", "now,fail=1", "--", "sh", "-c", script, ":::", *"123456789"
    )

    assert done.returncode == 1
    assert b"1 succeeded, 1 failed, 7 cancelled" in done.stderr
    assert b"stopped early: --halt now,fail=1" in done.stderr
    assert b"runs the rest again" in done.stderr


def test_halt_soon_lets_running_jobs_end(weft: Weft, tmp_path: Path) -> None:
    # The others end only after the run has been told of the failure of the first one. The third
    # may have started by then.
    script = """
        if test {} = 1; then while ! test -e two; do sleep 0.05; done; exit 3; fi
        touch two
        while ! test -e held; do sleep 0.05; done
        echo {}
    """
    with weft.started(
        "each",
        "-j",
        "2",
        "--halt",
        "soon,fail=1",
        "--name",
        "halts-soon",
        "--",
        "sh",
        "-c",
        script,
        ":::",
        *"12345",
        cwd=tmp_path,
    ) as process:
        _until_held(weft, "halts-soon")
        (tmp_path / "held").touch()
        stdout, stderr = process.communicate(timeout=60)

    assert process.returncode == 1
    assert stdout in {b"2\n", b"2\n3\n"}, stderr
    assert b"cancelled" in stderr


def _until_held(weft: Weft, name: str) -> None:
    for _ in range(200):
        batches = json.loads(weft.run("ls", "--json").stdout)
        if any(one["name"] == name and one["held"] for one in batches):
            return
    raise AssertionError("the batch is not held")


def test_halt_after_a_success_is_a_success(weft: Weft) -> None:
    script = f"test {{}} = 1 || {{ {ENDLESS}; }}"
    words = ["-j", "1", "--halt", "now,success=1", "--", "sh", "-c", script, ":::"]
    done = weft.run("each", *words, *"1234")

    assert done.returncode == 0, done.stderr
    assert b"1 succeeded, 3 cancelled" in done.stderr


def test_a_job_that_ends_with_255_stops_the_run_as_with_xargs(weft: Weft) -> None:
    given = b"".join(b"%d\n" % n for n in range(1, 50))
    done = weft.run("each", "-j", "1", "--", "sh", "-c", "test {} != 2 || exit 255", stdin=given)

    assert done.returncode == 124
    assert b"stopped early: a job ended with 255" in done.stderr
    assert b"cancelled" in done.stderr


def test_halt_stops_reading_a_pipe_that_stays_open(weft: Weft) -> None:
    with weft.started(
        "each", "--halt", "now,fail=1", "--", "false", stdin=subprocess.PIPE
    ) as process:
        process.stdin.write(b"1\n")
        process.stdin.flush()
        assert process.wait(timeout=60) == 1
