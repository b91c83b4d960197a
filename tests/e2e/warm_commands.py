"""The command line without its imports: a process has its modules and forks itself for each
command, which then has its own arguments, environment, directory, umask and streams, as if it
had been started. An interpreter and its imports take half a second of processor time.
"""

import contextlib
import functools
import importlib
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

REQUEST_MAX = 180_000
NUMBER_MAX = 20
SERVER = f"import sys; sys.path[:0] = {sys.path!r}; from e2e.warm_commands import serve; serve()"


def run_warm(
    arguments: Sequence[str],
    environment: Mapping[str, str],
    cwd: Path | None,
    timeout_s: float,
    stdin: bytes = b"",
) -> "subprocess.CompletedProcess[bytes]":
    """Run one command to its end."""
    os.umask(mask := os.umask(0))
    request = json.dumps([list(arguments), dict(environment), str(cwd or Path.cwd()), mask])
    own, its = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with own, tempfile.TemporaryFile() as stdout, tempfile.TemporaryFile() as stderr:
        with its:
            end, begin = os.pipe()
            streams = [end, stdout.fileno(), stderr.fileno(), its.fileno()]
            socket.send_fds(_server(), [request.encode()], streams)
            os.close(end)
        with contextlib.suppress(BrokenPipeError), open(begin, "wb", buffering=0) as given:
            given.write(stdin)
        own.settimeout(timeout_s)
        process = int(own.recv(NUMBER_MAX))
        try:
            exit_code = int(own.recv(NUMBER_MAX))
        except TimeoutError:
            os.kill(process, signal.SIGKILL)
            raise subprocess.TimeoutExpired(list(arguments), timeout_s) from None
        texts = [
            os.pread(file.fileno(), os.fstat(file.fileno()).st_size, 0)
            for file in (stdout, stderr)
        ]
    return subprocess.CompletedProcess(list(arguments), exit_code, *texts)


@functools.cache
def _server() -> socket.socket:
    """Start the process that forks; it ends when this one does."""
    own, its = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with its:
        os.posix_spawn(
            sys.executable,
            [sys.executable, "-P", "-c", SERVER],
            os.environ,
            file_actions=[(os.POSIX_SPAWN_DUP2, its.fileno(), 0)],
        )
    return own


def serve() -> None:
    """Fork for each request until the tests are over."""
    from weft.cli.app import build_app, commands  # noqa: PLC0415

    build_app("ls")
    requests = socket.socket(fileno=os.dup(0))
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for those that wait
    while True:
        request, streams, *_ = socket.recv_fds(requests, REQUEST_MAX, 4)
        if not request:
            return
        arguments, environment, cwd, mask = json.loads(request)
        if arguments and arguments[0] in commands():
            importlib.import_module(commands()[arguments[0]][0].partition(":")[0])
        if not os.fork():
            requests.close()
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            _follow(arguments, environment, cwd, mask, streams)
        for descriptor in streams:
            os.close(descriptor)


def _follow(
    arguments: list[str],
    environment: Mapping[str, str],
    cwd: str,
    mask: int,
    streams: Sequence[int],
) -> None:
    """Run the command in a process of its own, and report its number and how it ended."""
    *standard, answer = streams
    process = os.fork()
    if not process:
        os.close(answer)
        signal.signal(signal.SIGINT, signal.default_int_handler)
        os.umask(mask)
        _become(arguments, environment, cwd, standard)
    with socket.socket(fileno=answer) as caller, contextlib.suppress(BrokenPipeError):
        caller.send(str(process).encode())
        exit_code = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
        caller.send(str(exit_code).encode())
    os._exit(0)


def _become(
    arguments: list[str], environment: Mapping[str, str], cwd: str, standard: Sequence[int]
) -> None:
    from weft.cli.app import main  # noqa: PLC0415

    for number, descriptor in enumerate(standard):
        os.dup2(descriptor, number)
        os.close(descriptor)
    sys.stdin = open(0, closefd=False)  # noqa: SIM115 (a descriptor, open to the end)
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(cwd)
    sys.argv = ["weft", *arguments]
    main()
