"""The work of every side, and the words by which the runner speaks to an adapter.

It runs under the Python of a peer, so it stands on nothing. Each job writes lines into one file:
`b NUMBER NS` when it begins and `e NUMBER NS` when it ends, so that what was lost or done twice is
seen without asking the peer. One that is to fail writes `f NUMBER NS` each time.
"""

import asyncio
import os
import subprocess
import sys
import time

AT_ONCE = int(os.environ.get("PEER_AT_ONCE", "1"))
SERVER = os.environ.get("PEER_SERVER", "")
SENDS = sys.argv[1:2] in (["submit"], ["feed"])
DEAD_AFTER_S = float(os.environ.get("PEER_DEAD_AFTER_S", "0"))
"""After so many seconds without a sign of life a worker is dead; 0: what is usual."""
ATTEMPTS = 3
"""Of a job that fails, a second apart."""
SECONDS = {"sleep": 1.0, "short": 0.5}
PROGRAM = 'echo "e $0 0" >>"$PEER_DONE"'
FAILURE = 'echo "f $0 0" >>"$PEER_DONE"; exit 1'
SLEEPER = (
    'echo "b $0 $(date +%s%N)" >>"$PEER_DONE"; sleep "$1"; '
    'echo "e $0 $(date +%s%N)" >>"$PEER_DONE"'
)


def note(what, number):
    """Write a line."""
    with open(os.environ["PEER_DONE"], "ab", buffering=0) as done:
        done.write(f"{what} {number} {time.time_ns()}\n".encode())


def command(kind, number):
    """Return the words of a job that is a command."""
    if kind in SECONDS:
        return ["/bin/sh", "-c", SLEEPER, str(number), str(SECONDS[kind])]
    return ["/bin/sh", "-c", FAILURE if kind == "fail" else PROGRAM, str(number)]


def run(kind, number):
    """Do a job as a function."""
    if kind == "process":
        subprocess.run(command(kind, number), check=True)
        return
    if kind in SECONDS:
        note("b", number)
        time.sleep(SECONDS[kind])
    note("e", number)


async def run_async(kind, number):
    """Do a job as a coroutine, for peers whose jobs these are."""
    if kind in {"process", "fail"}:
        process = await asyncio.create_subprocess_exec(*command(kind, number))
        if await process.wait():
            raise ChildProcessError(number)
        return
    if kind in SECONDS:
        note("b", number)
        await asyncio.sleep(SECONDS[kind])
    note("e", number)


def main(send, **others):
    """Do what the runner asks: `submit KIND FIRST COUNT`, `feed`, or one of the others.

    Another one is a function, or the words of a program that takes our place.
    """
    if sys.argv[1] == "feed":
        for line in sys.stdin:
            kind, first, count = line.split()
            send(kind, range(int(first), int(first) + int(count)))
            note("a", first)
        return
    if sys.argv[1] != "submit":
        other = others[sys.argv[1]]
        if not callable(other):
            words = [str(word) for word in other]
            os.execvp(words[0], words)  # noqa: S606 (in our place)
        other()
        return
    kind, first, count = sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
    if kind != "latency":
        note("s", first)
        send(kind, range(first, first + count))
        return
    with open(os.environ["PEER_DONE"], "rb") as done:
        for number in range(first, first + count):
            done.seek(0, os.SEEK_END)
            note("s", number)
            send("process", range(number, number + 1))
            _until(done, f"e {number} ".encode())
            note("l", number)
            time.sleep(0.05)


def _until(done, wanted):
    seen, end = b"", time.monotonic() + 60
    while wanted not in seen and time.monotonic() < end:
        seen += done.read()
        time.sleep(0.0005)
