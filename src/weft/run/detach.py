"""`weft up --detach`: the supervisor in a session of its own, and its answer to the parent.

Settings go to it through its standard input (the DSN among them may hold a password), its answer
comes back through a pipe: one line, when all is ready or when it cannot be.
"""

import os
import select
import subprocess
import sys
from pathlib import Path
from typing import Any, BinaryIO

import msgspec

from weft.core.errors import Unavailable, WeftError
from weft.run.down import summary_of
from weft.run.home import Home, HomeInUse
from weft.settings import Settings, load_settings, values_of

_LAST_LINES = 15
_WORD_S = 1.0
"""Whoever waits hears something after this time."""


class UpFailed(Unavailable, code="UP.FAILED"):
    """The supervisor ended before it was ready."""


class Answer(msgspec.Struct, kw_only=True):
    """The supervisor's answer: the url, or the facts of a `WeftError`."""

    url: str | None = None
    doing: str = ""
    """Not the answer yet: what takes so long."""
    warning: str = ""
    """Not the answer yet: what whoever starts it should know."""
    message: str = ""
    detail: str = ""
    hint: str = ""
    code: str = ""
    exit_code: int = 1


class StartRefused(WeftError):
    """An error of the detached supervisor, raised again with its code and exit code."""

    def __init__(self, answer: Answer) -> None:
        super().__init__(answer.message, detail=answer.detail, hint=answer.hint)
        self.code = answer.code  # type: ignore[misc]  # that of the class it had there
        self.exit_code = answer.exit_code  # type: ignore[misc]


def run_detached(settings: Settings, *, as_json: bool = False) -> int:
    """Start weft on the settings' home, as `run_up` does, and return when all is ready."""
    home = Home(settings.home)
    home.prepare()
    holder = home.holder()
    if holder is not None:
        raise HomeInUse(home.path, holder)
    url = start_detached(settings, home)
    if settings.tls_cert_file is not None:
        from weft.run.tls import certificate_finding  # noqa: PLC0415 (it imports ssl)

        finding = certificate_finding(settings)
        if finding is not None and finding.verdict != "ok":
            sys.stderr.write(f"weft: {finding.found}. {finding.advice}\n")
    sys.stdout.write(summary_of(settings, url, detached=True, as_json=as_json))
    return 0


def start_detached(settings: Settings, home: Home) -> str:
    """Start a supervisor that outlives us; return the url of its api when all is ready."""
    log_path = home.role_logs / "up.log"
    log_path.touch(mode=0o600)
    read_end, write_end = os.pipe()
    with log_path.open("ab") as output, os.fdopen(read_end, "rb") as answers:
        log_start = output.tell()
        process = subprocess.Popen(
            [sys.executable, "-P", "-m", "weft.run.up", str(write_end)],
            stdin=subprocess.PIPE,
            stdout=output,
            stderr=output,
            cwd="/",
            start_new_session=True,
            pass_fds=(write_end,),
        )
        os.close(write_end)
        _send(process, settings)
        try:
            answer = _wait_for(answers)
        except KeyboardInterrupt:
            process.terminate()
            process.wait()
            raise
    if answer is None:
        said = log_path.read_bytes()[log_start:].decode(errors="replace").strip().splitlines()
        raise UpFailed(
            "weft could not start",
            detail="\n".join(said[-_LAST_LINES:]) or f"It ended with code {process.wait()}.",
            hint=f"Its log is {log_path}.",
        )
    if answer.url is None:
        raise StartRefused(answer)
    return answer.url


def _wait_for(answers: BinaryIO) -> Answer | None:
    """Return the answer, and say meanwhile what is done; None: it ended without one."""
    if not select.select([answers], [], [], _WORD_S)[0]:
        sys.stderr.write("weft: starting …\n")  # on a busy machine it is not that far yet
    for line in answers:
        answer = msgspec.json.decode(line, type=Answer)
        if answer.warning:
            sys.stderr.write(f"weft: warning: {answer.warning}\n")
        elif answer.doing:
            sys.stderr.write(f"weft: {answer.doing} …\n")
        else:
            return answer
    return None


def _send(process: subprocess.Popen[bytes], settings: Settings) -> None:
    assert process.stdin is not None
    values = {
        name: str(v) if isinstance(v, Path) else v for name, v in values_of(settings).items()
    }
    try:
        process.stdin.write(msgspec.json.encode(values))
        process.stdin.close()
    except BrokenPipeError:
        return  # it has ended; the missing answer says so


def receive_settings(data: bytes) -> Settings:
    """Return the settings that `start_detached` sent."""
    values: dict[str, Any] = msgspec.json.decode(data)
    return load_settings(values, environ={})


def answer_error(error: WeftError) -> Answer:
    """Turn an error into the answer that lets the other process raise it again."""
    return Answer(
        message=error.message,
        detail=error.detail,
        hint=error.hint,
        code=error.code,
        exit_code=error.exit_code,
    )
