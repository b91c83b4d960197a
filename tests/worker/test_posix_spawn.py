"""The start of one process, and threads that wait for it."""

import errno
import os
import threading
from pathlib import Path

import pytest

from cases import cases
from weft.worker.spawner import prepared
from weft.worker.spawner.loop import EventLoop
from weft.worker.spawner.posix_spawn import Spawn
from weft.worker.spawner.prepared import Starter


def output_of(spawn_argv: list[str], *, env: dict[str, str], cwd: Path) -> str:
    ours, its = os.pipe2(os.O_CLOEXEC)
    try:
        pid = Spawn("/bin/sh", spawn_argv, env, [(its, 1)], str(cwd)).run()
    finally:
        os.close(its)
    with os.fdopen(ours) as stream:
        text = stream.read()
    assert os.waitpid(pid, 0) == (pid, 0)
    return text


def test_arguments_environment_directory_and_group(tmp_path: Path) -> None:
    script = 'echo "$0 $1 $A $(pwd)"; test $$ = $(cut -d" " -f5 /proc/$$/stat) && echo leads'
    env = {"A": "ä b", "PATH": os.defpath, **{f"V{number}": "x" for number in range(40)}}
    text = output_of(["sh", "-c", script, "zero", "one"], env=env, cwd=tmp_path)

    assert text.splitlines() == [f"zero one ä b {tmp_path}", "leads"]


def test_words_of_a_command_are_read_by_no_shell(tmp_path: Path) -> None:
    hostile = ["$(touch a)", "`touch a`", "; touch a", "| touch a", "> a", "a\nb", "-n"]
    env = {"PATH": os.defpath, "A": "() { :; }; touch a", "IFS": "x", "BASH_FUNC_a%%": "() { :; }"}
    script = 'printf "%s|" "$@" "$A"'
    text = output_of(["sh", "-c", script, "zero", *hostile, "$A"], env=env, cwd=tmp_path)

    assert text == "".join(f"{word}|" for word in (*hostile, "$A", env["A"]))
    assert list(tmp_path.iterdir()) == []


def test_error_tells_what_the_system_said(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        Spawn("/nothing/here", ["x"], {}, [], "/").run()
    script = tmp_path / "script"
    script.write_text("exit 0\n")
    script.chmod(0o700)
    spawn = Spawn(str(script), ["script"], {}, [], "/")
    with pytest.raises(OSError) as caught:
        spawn.run()
    assert caught.value.errno == errno.ENOEXEC
    spawn.by_shell()

    assert os.waitpid(spawn.run(), 0)[1] == 0


@cases(
    ("argv", "env"),
    [(["a\0b"], {}), (["a"], {"A": "\0"}), (["a"], {"": "x"}), (["a"], {"A=": "x"})],
)
def test_what_no_program_can_be_given_is_refused(argv: list[str], env: dict[str, str]) -> None:
    with pytest.raises(ValueError, match=r"null byte|variable name"):
        Spawn("/bin/true", argv, env, [], "/")


def test_quick_work_is_done_at_once() -> None:
    told: list[str | Exception] = []
    starter: Starter[str] = Starter(EventLoop(), threads=1)
    starter.begin(lambda: "done", told.append)

    assert (told, starter.count) == (["done"], 0)


def test_threads_take_over_while_work_is_slow(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prepared, "_QUICK_NS", -1)
    loop = EventLoop()
    told: list[str | Exception] = []
    starter: Starter[str] = Starter(loop, threads=2)
    both_run = threading.Barrier(2, timeout=30)

    def work() -> str:
        both_run.wait()  # side by side, or never
        return "done"

    def fail() -> str:
        raise ValueError("no")

    starter.begin(work, told.append)
    starter.begin(work, told.append)
    while len(told) < 2:
        loop.turn(None)
    starter.begin(fail, told.append)
    starter.finish()

    assert told[:2] == ["done", "done"]
    assert isinstance(told[2], ValueError)
    assert starter.count == 0
