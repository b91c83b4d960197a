"""Runs a command in a job's sandbox or container: text for the spawner's Python. It enters all its
namespaces at once, with no right that the job has not, and passes on signals and the end.
"""

import ctypes
import fcntl
import os
import signal
import struct
import sys
import termios
import warnings  # noqa: F401 (execvpe needs it where there is no Python)

JOB_FD, _VARIABLES_FD = 5, 3  # its pidfd, and what `sandboxed.variables_of` returns
_NAMESPACES = {
    "user": 0x1000_0000,
    "mnt": 0x2_0000,
    "pid": 0x2000_0000,
    "net": 0x4000_0000,
    "ipc": 0x800_0000,
    "uts": 0x400_0000,
    "cgroup": 0x200_0000,
}
_PDEATHSIG, _DUMPABLE, _NO_NEW_PRIVS, _CAPS = 1, 4, 38, struct.pack("Ii", 0x2008_0522, 0)
_libc = ctypes.CDLL(None, use_errno=True)


def _fields(path: str) -> dict[str, str]:
    with open(path) as file:
        return dict(line.split(":\t", 1) for line in file if ":\t" in line)


def _enter(*names: str) -> None:
    job = int(_fields(f"/proc/self/fdinfo/{JOB_FD}")["Pid"])
    status = _fields(f"/proc/{job}/status")
    rights = [int(status[f"Cap{one}"], 16) for one in ("Eff", "Prm", "Inh")]
    halves = struct.pack("6I", *(one & 0xFFFF_FFFF for one in rights), *(x >> 32 for x in rights))
    own, its = (f"/proc/{one}/ns/" for one in ("self", job))
    flags = sum(_NAMESPACES[x] for x in names if os.readlink(own + x) != os.readlink(its + x))
    _libc.prctl(_DUMPABLE, 0, 0, 0, 0)  # no process there may trace it before it is the command
    _libc.prctl(_NO_NEW_PRIVS, 1, 0, 0, 0)
    if (flags and _libc.setns(JOB_FD, flags)) or _libc.capset(_CAPS, halves):
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


def _main(how: str, cwd: str, *argv: str) -> int:
    for number in (signal.SIGINT, signal.SIGPIPE, signal.SIGXFSZ):  # which Python changes
        signal.signal(number, signal.SIG_DFL)
    with open(_VARIABLES_FD, "rb") as file:
        words = file.read().split(b"\0")
    null, what = os.open(os.devnull, os.O_RDWR), "the job's namespaces"
    try:
        # The relay is not where the job could trace it: it has the host's files.
        _enter(*(("user", "net") if how == "python" else _NAMESPACES))
        os.close(JOB_FD)
        if how == "python":
            os.execv(argv[0], argv)  # noqa: S606 (the relay)
        if not (child := os.fork()):
            what = argv[0]
            _libc.prctl(_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
            if how == "terminal":
                os.setsid()
                fcntl.ioctl(0, termios.TIOCSCTTY, 0)
            os.chdir(cwd)
            os.execvpe(argv[0], argv, dict(zip(words[1::3], words[2::3], strict=False)))  # noqa: S606
    except (OSError, KeyError) as error:
        os.write(2, f"weft exec: {what}: {error}\n".encode(errors="replace"))
        os._exit(127)
    for stream in range(3):  # whose ends are the command's to close
        os.dup2(null, stream)
    # Without a terminal the command is in the group of this, and gets them, too.
    to_child = (lambda n, _: os.kill(child, n)) if how == "terminal" else signal.SIG_IGN
    for one in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP, signal.SIGCHLD}:
        signal.signal(one, to_child)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    return code if code >= 0 else 128 - code


if __name__ == "__main__":
    sys.exit(_main(*sys.argv[1:]))
