"""What of the caller's environment a job of `weft run` and `weft each` gets, and who sees it."""

import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from e2e.conftest import Weft

pytestmark = pytest.mark.heavy

SECRET = "hunter2-of-the-test"
SECRETS = {"MY_API_TOKEN": SECRET, "AWS_SECRET_ACCESS_KEY": SECRET, "PLAIN": "plain"}


def names(done: "subprocess.CompletedProcess[bytes]") -> set[str]:
    """Return the variables that a job of `env` printed."""
    assert done.returncode == 0, done.stderr
    return {line.partition("=")[0] for line in done.stdout.decode().splitlines()}


def text_of(home: Path) -> Iterator[str]:
    """Yield the logs of a home's processes."""
    for file in home.rglob("*.log"):
        yield file.read_text(errors="replace")


@pytest.mark.parametrize("command", ["run", "each"])
def test_the_job_gets_its_secrets_and_nobody_is_shown_them(weft: Weft, command: str) -> None:
    words = ["sh", "-c", f'test "$MY_API_TOKEN$PLAIN" = {SECRET[:7]}"-of-the-testplain"']
    done = weft.run(command, "--json", "--", *words, env=SECRETS, stdin=b"x\n")

    assert done.returncode == 0, done.stderr
    batch = json.loads(done.stdout)["batch_id"]
    shown = weft.run("status", "--json", f"b{batch}.j1").stdout.decode()
    assert "<masked>" in shown
    assert "plain" in shown
    places = [
        shown,
        weft.run("status", f"b{batch}.j1").stdout.decode(),
        weft.run("status", "--json", f"b{batch}").stdout.decode(),
        weft.run("jobs", "--json", f"b{batch}").stdout.decode(),
        weft.run("ls", "--json").stdout.decode(),
        *text_of(weft.home),
    ]
    assert not [place for place in places if SECRET in place]


def test_clean_env_passes_on_what_is_named_only(weft: Weft) -> None:
    words = ["--clean-env", "--env", "PLAIN", "--env", "OTHER=x", "--", "env"]
    found = names(weft.run("run", *words, env=SECRETS))

    assert {"PLAIN", "OTHER", "PATH", "HOME"} <= found
    assert not {"MY_API_TOKEN", "AWS_SECRET_ACCESS_KEY", "WEFT_HOME"} & found


def test_no_env_leaves_out_a_pattern(weft: Weft) -> None:
    for command in ("run", "each"):
        words = ["--no-env", "AWS_*", "--no-env", "my_*", "--", "env"]
        found = names(weft.run(command, *words, env=SECRETS, stdin=b"A=b\n"))

        assert "PLAIN" in found
        assert not {"MY_API_TOKEN", "AWS_SECRET_ACCESS_KEY"} & found


def test_a_setting_leaves_out_patterns_or_everything(weft: Weft) -> None:
    some = names(weft.run("run", "--", "env", env={**SECRETS, "WEFT_NO_ENV": "AWS_*, MY_*"}))
    none = names(weft.run("run", "--", "env", env={**SECRETS, "WEFT_CLEAN_ENV": "true"}))

    assert "PLAIN" in some
    assert not {"MY_API_TOKEN", "AWS_SECRET_ACCESS_KEY"} & some
    assert not SECRETS.keys() & none


def test_secrets_of_weft_itself_stay_here(weft: Weft) -> None:
    found = names(weft.run("run", "--", "env", env={"WEFT_DATABASE": "postgresql://u:p@h/d"}))

    assert not {"WEFT_DATABASE", "WEFT_TOKEN"} & found


def test_a_variable_that_is_not_there_is_an_error(weft: Weft) -> None:
    done = weft.run("run", "--env", "NO_SUCH_VARIABLE", "--", "true")

    assert done.returncode == 2
    assert b"there is no variable NO_SUCH_VARIABLE to pass on" in done.stderr
    assert b"--env NO_SUCH_VARIABLE=VALUE" in done.stderr


@pytest.mark.parametrize("command", ["run", "each"])
def test_an_environment_over_the_limit_is_refused_with_its_size(weft: Weft, command: str) -> None:
    large = {f"LARGE_{n}": "x" * 70_000 for n in range(2)}
    done = weft.run(command, "--", "true", env=large, stdin=b"x\n")

    assert done.returncode == 2
    assert b"the environment is too large" in done.stderr
    assert b"bytes, at most 131072 (argv_bytes_max)" in done.stderr
    assert b"--no-env" in done.stderr
    assert weft.run(command, "--no-env", "LARGE_*", "--", "true", env=large).returncode == 0


@pytest.mark.parametrize("command", ["run", "each"])
def test_files_have_the_modes_of_the_callers_umask(
    weft: Weft, command: str, tmp_path: Path
) -> None:
    before = os.umask(0o077)
    try:
        done = weft.run(command, "--", "sh", "-c", "touch made; umask", cwd=tmp_path, stdin=b"x\n")
    finally:
        os.umask(before)

    assert done.stdout == b"0077\n"
    assert (tmp_path / "made").stat().st_mode & 0o777 == 0o600
