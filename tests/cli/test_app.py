"""Commands without a server: usage, exit codes, what stands on which stream."""

import itertools
import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from weft.cli.app import COMMANDS, all_commands, build_app, run_command
from weft.cli.terminal.overview import OTHERS, SECTIONS
from weft.cli.terminal.raw_output import OutputFailed


def weft(*arguments: str, **more: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-c", "from weft.cli.app import main; main()", *arguments],
        check=False, capture_output=True, text=True, timeout=30, stdin=subprocess.DEVNULL,
        env={**os.environ, "WEFT_HOME": "/nonexistent", **more},
    )  # fmt: skip


def test_version_is_said_before_anything_slow_is_imported() -> None:
    code = (
        "import sys; sys.argv = ['weft', '--version']\n"
        "from weft.cli.app import main\n"
        "try: main()\n"
        "finally: print(sorted({'cyclopts', 'asyncio', 'msgspec', 'rich'} & set(sys.modules)))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)

    assert done.stdout.splitlines() == ["weft 0.1.0", "[]"]


LISTS = {
    "cloudpickle", "cyclopts.validators", "difflib", "docstring_parser", "platformdirs", "rich",
    "shutil", "tomllib",
    "weft.client.functions", "weft.client.submission.document", "weft.settings.settings", "yaml",
}  # fmt: skip
"""What commands that only ask do without."""


@pytest.mark.parametrize(
    ("words", "heavy"),
    [
        ("--help", {"asyncio", "cyclopts", "h11", "msgspec", "rich", "ssl", "weft.client"}),
        ("completion bash", {"asyncio", "cyclopts", "h11", "msgspec", "rich", "weft.client"}),
        ("ls", LISTS),
        ("status b1", LISTS),
        ("logs b1.j1", LISTS),
        ("--complete zsh run x", {"asyncio", "cyclopts", "h11", "msgspec", "rich", "weft.client"}),
    ],
)
def test_what_is_slow_to_import_is_left_to_the_commands_that_need_it(
    words: str, heavy: set[str]
) -> None:
    servers = {"asyncpg", "jinja2", "litestar", "weft.api", "weft.driver", "weft.store"}
    code = (
        f"import sys; sys.argv = ['weft', *{words.split()!r}]\n"
        "from weft.cli.app import main\n"
        "try: main()\n"
        f"finally: print(sorted({heavy | servers!r} & set(sys.modules)), file=sys.stderr)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], check=False, capture_output=True, text=True,
        env={"PATH": os.environ["PATH"], "WEFT_HOME": "/nonexistent"},
    )  # fmt: skip

    assert done.stderr.splitlines()[-1] == "[]"


def test_the_collector_works_again_once_a_command_is_loaded() -> None:
    """It is off while modules are loaded; commands such as `weft wait` run for days."""
    code = (
        "import gc, sys; sys.argv = ['weft', 'ls']\n"
        "from weft.cli.app import main\n"
        "try: main()\n"
        "finally: print(gc.isenabled(), gc.get_freeze_count() > 10_000)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], check=False, capture_output=True, text=True,
        env={"PATH": os.environ["PATH"], "WEFT_HOME": "/nonexistent"},
    )  # fmt: skip

    assert done.stdout.split() == ["True", "True"]


GROUPS = {
    "db",
    "callback",
    "condition",
    "convert",
    "export",
    "files",
    "licence",
    "app",
    "store",
    "transport",
    "lifecycle",
    "line",
    "operation",
    "param",
    "pool",
    "queue",
    "limit",
    "quota",
    "schedule",
    "query",
    "secret",
    "session",
    "series",
    "source",
    "tenant",
    "token",
    "user",
}
"""Commands that only hold others."""


@pytest.mark.parametrize("command", [name for name in all_commands() if name not in GROUPS])
def test_every_command_explains_itself(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command([command, "--help"]) == 0

    out = capsys.readouterr().out
    assert "Usage: weft " + command in out
    assert "--json" in out
    assert "--home" in out


PAGES = [
    *([name] for name in all_commands() if name not in GROUPS),
    *(["billing", name] for name in ("correct-rates", "days", "rates", "report", "set-rates")),
    *(["callback", name] for name in ("ls", "redeliver", "secret")),
    *(["condition", name] for name in ("fail", "ls", "release", "show", "test")),
    *(["db", name] for name in ("migrate", "status")),
    *(["db", "views", name] for name in ("add", "ls", "rm")),
    *(["transport", name] for name in ("ls", "show", "test")),
    *(["transport", "letters", name] for name in ("ls", "resend", "rm", "show")),
    *(["licence", name] for name in ("ls", "rm", "set")),
    *(["session", name] for name in ("ls", "rm")),
    *(["token", name] for name in ("create", "ls", "revoke")),
    *(
        ["billing", "project", name]
        for name in ("close", "create", "delete", "limit", "members", "reopen", "show")
    ),
    *(["quota", name] for name in ("ls", "set")),
    *(["source", name] for name in ("items", "ls", "pause", "replay", "resume", "why")),
    *(["series", name] for name in ("rerun", "show")),
    ["products", "rm"],
    *(["param", name] for name in ("diff", "get", "history", "set")),
    *(["store", name] for name in ("add", "ls", "rm", "show")),
    *(["app", name] for name in ("add", "ls", "rm", "show")),
    *(["lifecycle", name] for name in ("graph", "show")),
    *(["limit", name] for name in ("ls", "set")),
    *(["line", name] for name in ("apply", "rm", "set", "show")),
    *(["tenant", name] for name in ("create", "ls", "set", "show")),
    *(["operation", name] for name in ("cancel", "ls")),
    *(["query", name] for name in ("ls", "rm", "save")),
    *(["secret", name] for name in ("ls", "rm", "rotate", "set")),
    *(["user", name] for name in ("add", "ls", "rm", "role")),
    ["pool", "shares"],
    *(["queue", name] for name in ("apply", "drain", "ls", "show", "test")),
    *(["schedule", name] for name in ("add", "ls", "pause", "resume", "rm", "run-now", "show")),
    ["convert", "dax"],
]


@pytest.mark.parametrize("page", PAGES, ids=" ".join)
def test_every_page_has_an_example_that_can_be_copied(
    page: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    run_command([*page, "--help"])
    lines = [line.strip() for line in capsys.readouterr().out.splitlines()]
    examples = [
        shlex.split(line.rpartition(" | ")[2])
        for line in lines
        if line.removeprefix("Usage: ") == line and "weft " + " ".join(page) in line
    ]

    assert examples
    for example in examples:
        build_app().parse_args(example[1:], print_error=False, exit_on_error=False)


@pytest.mark.parametrize("page", PAGES, ids=" ".join)
def test_examples_of_a_page_stand_below_each_other(
    page: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    run_command([*page, "--help"])
    description, _, _ = capsys.readouterr().out.partition("╭")
    examples = [
        line for line in description.splitlines()
        if f"weft {' '.join(page)} " in line and not line.startswith("Usage: ")
    ]  # fmt: skip

    assert all(line.startswith("    ") and line[4] != " " for line in examples)


@pytest.mark.parametrize("page", PAGES, ids=" ".join)
def test_values_of_options_are_named_as_people_write_them(
    page: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    """TIME, SIZE or KEY=VALUE, not types of Python."""
    run_command([*page, "--help"])

    assert re.findall(r" (?:STR|INT|FLOAT|DATETIME)\b", capsys.readouterr().out) == []


@pytest.mark.parametrize("page", PAGES, ids=" ".join)
def test_text_of_a_page_is_not_broken_twice(
    page: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    """A docstring's lines are kept, so one that is too wide leaves a stub on the next line."""
    run_command([*page, "--help"])
    description, _, _ = capsys.readouterr().out.partition("╭")
    lines = description.splitlines()
    stubs = [
        line for line, after in itertools.pairwise(lines)
        if after[:1].strip() and line[:1].strip() and len(line) < 56
    ]  # fmt: skip

    assert stubs == []


def test_the_list_of_commands_says_what_each_does(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command(["--help"]) == 0

    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= 80
    for name, sentence in all_commands().items():
        assert f"{name} {sentence}" in {" ".join(line.split()) for line in lines}
    assert run_command([]) == 0
    assert capsys.readouterr().out.splitlines() == lines


def test_the_list_of_commands_has_sections(capsys: pytest.CaptureFixture[str]) -> None:
    placed = [name for names in SECTIONS.values() for name in names]
    assert sorted(placed) == sorted(COMMANDS)

    run_command(["--help"])

    out = capsys.readouterr().out
    heads = re.findall(r"^(\w.*):$", out, re.MULTILINE)
    assert heads == [*SECTIONS, OTHERS, "Options"]
    assert out.index("Act:") < out.index("  cancel ") < out.index("Queues and pools:")


@pytest.mark.parametrize(
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


def test_targets_and_a_query_are_not_for_one_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command(["hold", "b1", "--batches", "b2", "--yes", "--json"]) == 2
    assert json.loads(capsys.readouterr().err)["code"] == "CLI.TARGETS_OR_QUERY"


def test_no_server_is_exit_code_3_with_a_way_out(tmp_path: Path) -> None:
    done = weft("ls", WEFT_HOME=str(tmp_path))

    assert done.returncode == 3
    assert done.stdout == ""
    assert done.stderr.splitlines()[0] == "weft: no server is running here"
    assert "`weft up`" in done.stderr


def test_errors_are_json_where_json_is_wanted(tmp_path: Path) -> None:
    done = weft("ls", "--json", WEFT_HOME=str(tmp_path))

    assert done.returncode == 3
    assert json.loads(done.stderr)["code"] == "CLI.NOT_RUNNING"


@pytest.mark.parametrize(
    ("words", "code"),
    [
        ("run --json", "CLI.NO_COMMAND"),
        ("each --json -f /nonexistent/lines -- true", "CLI.UNREADABLE_INPUT"),
        ("db status --json", "CLI.NO_DATABASE"),
        ("db views add weft_api --json", "CLI.INVALID_LOGIN"),
        ("bench speed --json", "CLI.UNKNOWN_BENCH"),
        ("bench storm --json", "CLI.UNKNOWN_BENCH"),
    ],
)
def test_what_cannot_be_done_has_a_code_and_a_way_out(words: str, code: str) -> None:
    told = json.loads(weft(*words.split()).stderr)

    assert (told["code"], bool(told["hint"])) == (code, True)


def in_shell(script: str, stdout: int = subprocess.PIPE) -> "subprocess.CompletedProcess[str]":
    """Run a line of shell in which "$@" is weft."""
    words = [sys.executable, "-c", "from weft.cli.app import main; main()"]
    return subprocess.run(
        ["sh", "-c", script, "sh", *words],
        check=False, stdout=stdout, stderr=subprocess.PIPE, text=True, timeout=30,
        stdin=subprocess.DEVNULL, env={**os.environ, "WEFT_HOME": "/nonexistent"},
    )  # fmt: skip


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


@pytest.mark.parametrize("command", ["config", "config --json", "up --help"])
def test_an_output_that_nobody_reads_ends_a_command_quietly(command: str) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    done = in_shell(f'exec "$@" {command}', writer)
    os.close(writer)

    assert (done.returncode, done.stderr) == (141, "")


def test_a_message_for_closed_errors_does_not_go_to_the_output() -> None:
    assert in_shell('"$@" config --bogus 2>&-').stdout == ""


def test_each_needs_a_number_of_jobs() -> None:
    done = weft("each", "-j", "-many", "--", "echo")

    assert done.returncode == 2
    assert done.stderr.startswith("weft: -j '-many' is not a number of jobs")


def test_each_without_input_has_nothing_to_do_and_needs_no_server(tmp_path: Path) -> None:
    done = weft("each", "--", "echo", WEFT_HOME=str(tmp_path))

    assert (done.returncode, done.stdout) == (0, "")
    assert done.stderr == "weft: no input, nothing to do\n"


def test_config_says_where_a_value_comes_from(tmp_path: Path) -> None:
    (tmp_path / "weft.toml").write_text("port = 1234\n")
    done = weft("config", "--json", WEFT_HOME=str(tmp_path), WEFT_HOST="::1")

    found = json.loads(done.stdout)
    assert found["port"]["value"] == "1234"
    assert found["port"]["from"] == str(tmp_path / "weft.toml")
    assert found["host"]["from"] == "environment WEFT_HOST"
    assert found["pool"]["from"] == "default"


def test_help_of_the_tree_is_complete() -> None:
    assert build_app()["db"]["status"] is not None
