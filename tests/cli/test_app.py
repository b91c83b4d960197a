"""Commands without a server: usage, exit codes, what stands on which stream."""

import itertools
import json
import os
import re
import shlex
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from cases import cases
from weft.cli.app import all_commands, build_app, commands, run_command
from weft.cli.completion.cursor import read_commands
from weft.cli.terminal.interrupts import INTERRUPTED, UNANSWERED
from weft.cli.terminal.overview import OTHERS, SECTIONS
from weft.cli.terminal.raw_output import OutputFailed

MAIN = "from weft.cli.app import main; main()"


def weft(*arguments: str, code: str = MAIN, **more: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-c", code, *arguments],
        check=False,
        capture_output=True,
        text=True,
        timeout=30,
        stdin=subprocess.DEVNULL,
        env={**os.environ, "WEFT_HOME": "/nonexistent", **more},
    )


LISTS = {
    "attr",
    "cloudpickle",
    "cyclopts",
    "difflib",
    "docstring_parser",
    "platformdirs",
    "rich",
    "shutil",
    "tomllib",
    "weft.cli.input.option_names",
    "weft.wire.documents.foreign_jobs",
    "weft.wire.documents.imports",
    "weft.client.functions",
    "weft.client.submission.document",
    "weft.settings.settings",
    "yaml",
    "hashlib",
    "random",
    "weft.wire.answers",
    "weft.wire.documents.batches",
    "weft.wire.documents.jobs",
    "weft.wire.exec",
    "tempfile",
    "weft.core.why",
    "weft.store",
}
"""What commands that only ask do without."""
LOOP = {"asyncio", "concurrent.futures", "logging", "ssl", "subprocess"}
TEXTS = {"cyclopts", "dataclasses", "h11", "inspect", "msgspec", "rich", "weft.client"}
"""What commands that only print do without."""
STARTS = {"asyncio", "attr", "cyclopts", "prometheus_client", "rich", "structlog", "yaml"}
ASKING = ("jobs", "groups", "status", "why", "failures", "cancel", "hold")


@pytest.mark.parametrize(
    ("words", "heavy"),
    [
        ("--help", LOOP | TEXTS | {"importlib.metadata"}),
        *((words, TEXTS | {"asyncio"}) for words in ("completion bash", "--complete zsh run x")),
        ("--version", {"asyncio", "cyclopts", "msgspec", "rich"}),
        *((name, LISTS | LOOP | {"weft.core.graph.parents"}) for name in ("ls", "top")),
        *((f"{name} b1", LISTS | LOOP | {"weft.core.graph.parents"}) for name in ASKING),
        *((words, LISTS) for words in ("run -n -- true", "pool ls", "logs b1.j1")),
        ("run -n --detach -- true", LISTS | LOOP),
        ("submit --home . one.json", LISTS | LOOP),
        ("each -- true", LISTS - {"hashlib", "random", "weft.cli.input.option_names"}),
        *((f"{words} --home one.json", STARTS) for words in ("up --detach", "down")),
    ],
)
def test_what_is_slow_to_import_is_left_to_the_commands_that_need_it(
    words: str, heavy: set[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While it loads, the collector is off; it works again then: `weft wait` runs for days."""
    monkeypatch.chdir(tmp_path)
    # A command that is told a setting of servers looks at all settings, whether it is misspelt.
    monkeypatch.delenv("WEFT_TRUSTED_USERS")
    Path("one.json").write_text('{"jobs": [{"command": ["true"]}]}')
    servers = {"asyncpg", "jinja2", "uvicorn", "weft.api", "weft.driver", "weft.store.database"}
    code = (
        f"import gc, sys; sys.argv = ['weft', *{words.split()!r}]\n"
        "from weft.cli.app import main\n"
        "try: main()\n"
        "finally: print(gc.isenabled() and gc.get_freeze_count() > 10_000,\n"
        f"    sorted({heavy | servers!r} & set(sys.modules)), file=sys.stderr)\n"
    )
    is_command = not words.startswith(("--", "completion"))
    told = weft(code=code, WEFT_TOKEN="x").stderr.splitlines()[-1]
    assert told == f"{is_command} []"


PAGES = [name.split() for name, one in read_commands().items() if name and len(one["options"]) > 1]
"""The commands that do something, not those that only hold others."""
APP = build_app()


@cases("page", PAGES)
def test_every_page_explains_its_command(
    page: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    """With examples that can be copied and stand below each other, values as people write them –
    TIME, SIZE or KEY=VALUE, not types of Python – and lines of a docstring that are not too wide.
    """
    assert run_command([*page, "--help"]) == 0
    out = capsys.readouterr().out
    name = f"weft {' '.join(page)}"
    assert re.findall(r" (?:STR|INT|FLOAT|DATETIME)\b", out) == []
    assert f"Usage: {name}" in out
    assert "--json" in out
    assert "--home" in out
    lines = out.partition("╭")[0].splitlines()
    examples = [line for line in lines if name in line and not line.startswith("Usage: ")]
    assert examples
    for example in examples:
        words = shlex.split(example.rpartition(" | ")[2])
        APP.parse_args(words[1:], print_error=False, exit_on_error=False)
        assert not example.startswith("     ")
    stubs = [
        line
        for line, after in itertools.pairwise(lines)
        if after[:1].strip() and line[:1].strip() and len(line) < 56
    ]
    assert stubs == []


def test_the_list_of_commands_says_what_each_does(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command(["--help"]) == 0

    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= 80
    for name, sentence in all_commands().items():
        assert f"{name} {sentence}" in {" ".join(line.split()) for line in lines}
    assert run_command([]) == 0
    out = capsys.readouterr().out
    assert out.splitlines() == lines

    placed = [name for names in SECTIONS.values() for name in names]
    assert sorted(placed) == sorted(commands())
    heads = re.findall(r"^(\w.*):$", out, re.MULTILINE)
    assert heads == [*SECTIONS, OTHERS, "Options"]
    assert out.index("Act:") < out.index("  cancel ") < out.index("Queues and pools:")


@cases(
    "arguments",
    [
        ["nonsense"],
        ["status"],
        ["status", "b1", "b2"],
        ["status", "--nonsense", "b1"],
        ["status", ""],
        ["ls", "--limit", "many"],
        ["run"],
        ["each"],
        ["run", "--memroy", "1Gi", "--", "true"],
        ["run", "ls", "-l"],
        ["run", "sort", "-n"],
        ["each", "wc", "-j", "2", "-c"],
        ["cancel"],
        ["cancel", "--batches", "state = running"],
        ["cancel", "--batches", "b1", "--yes", "--force"],
        ["hold", "b1", "--batches", "b1", "--yes"],
        ["release"],
        ["retry", "--batches", "b1", "--yes", "-q", "x"],
        ["each", "-q", "--", "true"],
        ["each", "-j", "-many", "--", "echo"],
        ["up", "--port", "99999"],
        ["submit", "/nonexistent.yaml"],
        ["submit", "README"],
    ],
)
def test_wrong_usage_is_told_on_stderr(
    arguments: list[str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WEFT_HOME", "/nonexistent")

    assert run_command(arguments) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith("weft: ")
    assert "Traceback" not in printed.err


def test_no_server_is_exit_code_3_with_a_way_out(tmp_path: Path) -> None:
    told, as_json = (weft("ls", *more, WEFT_HOME=str(tmp_path)) for more in ((), ("--json",)))

    assert (told.returncode, told.stdout, as_json.returncode) == (3, "", 3)
    assert told.stderr.splitlines()[0] == "weft: no server is running here"
    assert "`weft up`" in told.stderr
    assert json.loads(as_json.stderr)["code"] == "CLI.NOT_RUNNING"


@pytest.mark.parametrize(
    ("words", "tells"),
    [
        ("run --json", "CLI.NO_COMMAND"),
        ("hold b1 --batches b2 --yes --json", "CLI.TARGETS_OR_QUERY"),
        ("each --json -f /nonexistent/lines -- true", "CLI.UNREADABLE_INPUT"),
        ("db status --json", "CLI.NO_DATABASE"),
        ("db migrate --plan --json", "CLI.NO_DATABASE"),
        ("db views add weft_api --json", "CLI.INVALID_LOGIN"),
        ("bench speed --json", "CLI.UNKNOWN_BENCH statemachine"),
    ],
)
def test_what_cannot_be_done_has_a_code_and_a_way_out(
    words: str, tells: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WEFT_HOME", "/nonexistent")
    assert run_command(words.split()) != 0
    code, *more = tells.split()
    told = json.loads(capsys.readouterr().err)

    assert (told["code"], bool(told["hint"])) == (code, True)
    assert all(word in told["detail"] for word in more)


def in_shell(script: str, stdout: int = subprocess.PIPE) -> "subprocess.CompletedProcess[str]":
    """Run a line of shell in which "$@" is weft."""
    return subprocess.run(
        ["sh", "-c", script, "sh", sys.executable, "-c", MAIN],
        check=False,
        stdout=stdout,
        stderr=subprocess.PIPE,
        text=True,
        timeout=30,
        stdin=subprocess.DEVNULL,
        env={**os.environ, "WEFT_HOME": "/nonexistent"},
    )


@pytest.mark.heavy
@pytest.mark.parametrize("command", ["config", "config --json", "doctor", "up --help"])
@pytest.mark.parametrize(
    ("target", "why"), [("/dev/full", "No space left on device."), ("&-", "Bad file descriptor.")]
)
def test_an_output_that_cannot_be_written_is_told(command: str, target: str, why: str) -> None:
    done = in_shell(f'"$@" {command} >{target}')

    assert done.returncode == OutputFailed.exit_code
    assert "Traceback" not in done.stderr
    assert "cannot write the output" in done.stderr
    assert why in done.stderr


@pytest.mark.parametrize(
    "command",
    ["config", "config --json", "up --help", "--help", "--version", "--complete zsh run -"],
)
def test_an_output_that_nobody_reads_ends_a_command_quietly(command: str) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    done = in_shell(f'exec "$@" {command}', writer)
    os.close(writer)

    assert (done.returncode, done.stderr) == (141, "")


def test_a_message_for_closed_errors_does_not_go_to_the_output() -> None:
    assert in_shell('"$@" config --bogus 2>&-').stdout == ""


def test_each_without_input_has_nothing_to_do_and_needs_no_server(tmp_path: Path) -> None:
    done = weft("each", "--", "echo", WEFT_HOME=str(tmp_path))

    end = (done.returncode, done.stdout, done.stderr)
    assert end == (0, "", "weft: no input, nothing to do\n")


PROGRAM = """
from weft.cli.terminal import interrupts
interrupts.LONGEST_S = 0.2
from weft.cli.app import main
main()
"""


@pytest.mark.parametrize("words", [("run", "-n", "--", "true"), ("each", "--", "true")])
def test_a_command_leaves_a_server_that_does_not_answer(words: tuple[str, ...]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(20)
        url = f"http://127.0.0.1:{server.getsockname()[1]}"
        process = subprocess.Popen(
            [sys.executable, "-c", PROGRAM, *words],
            stdin=subprocess.PIPE,
            text=True,
            stderr=subprocess.PIPE,
            env={"WEFT_URL": url, "WEFT_TOKEN": "x"},
        )
        assert process.stdin is not None
        process.stdin.write("line\n")
        process.stdin.flush()
        with server.accept()[0]:
            process.send_signal(signal.SIGTERM)
            _, told = process.communicate(timeout=20)

    assert process.returncode == INTERRUPTED, told
    assert (UNANSWERED in told) is (words[0] == "run")
