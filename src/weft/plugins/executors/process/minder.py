"""The first process of a service: starts its program, asks whether that is healthy, and tells by
its own exit code how it ended. Run by its path, with the standard library alone.

weft signals all processes of a job, so nothing is passed on.
"""

import json
import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from typing import Any, Final
from urllib.parse import urlsplit

UNHEALTHY: Final = 69
"""EX_UNAVAILABLE."""
ENDED: Final = 75
"""EX_TEMPFAIL: it ended with 0, and is started again."""
NO_PROGRAM: Final = 127
BY_SIGNAL: Final = 128
_MS: Final = 1000


class Minder:
    """Minds one program. `plan`: the field `service` of its job."""

    def __init__(self, plan: Mapping[str, Any], command: list[str]) -> None:
        self._plan = plan
        self._command = command
        self._is_stopped = False

    def run(self) -> int:
        """Return the exit code."""
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            signal.signal(number, self._stop)
        try:
            child = subprocess.Popen(self._command)
        except OSError as error:
            say(f"{self._command[0]} cannot be started: {error.strerror}")
            return NO_PROGRAM
        health = self._plan.get("health")
        if health is None:
            child.wait()
        elif not self._watch(child, health):
            return UNHEALTHY
        return self._code(child.returncode)

    def _stop(self, *_: object) -> None:
        self._is_stopped = True

    def _code(self, code: int) -> int:
        if code < 0:
            say(f"it was killed by {signal.Signals(-code).name}")
            return BY_SIGNAL - code
        if code == 0 and self._plan.get("restart", "always") == "always" and not self._is_stopped:
            say("it ended with exit code 0")
            return ENDED
        return code

    def _watch(self, child: "subprocess.Popen[bytes]", health: Mapping[str, Any]) -> bool:
        """Ask until it has ended, or was unhealthy too often; then end it and return false."""
        every_s, most = health.get("every_s", 10.0), health.get("failures", 3)
        ended = select.poll()
        ended.register(os.pidfd_open(child.pid), select.POLLIN)
        n_failures, was_healthy = 0, False
        while not ended.poll(every_s * _MS):
            if self._is_stopped:
                continue
            why = wrong(health)
            if child.poll() is not None:
                break
            if not why:
                if not was_healthy:
                    say("healthy")
                n_failures, was_healthy = 0, True
                continue
            was_healthy = False
            n_failures += 1
            say(f"unhealthy, {n_failures} of {most}: {why}")
            if n_failures >= most:
                end(child, ended)
                return False
        child.wait()
        return True


def wrong(health: Mapping[str, Any]) -> str:
    """Ask once; return what is wrong, or nothing."""
    timeout_s = health.get("timeout_s", 5.0)
    if (url := health.get("http")) is not None:
        return _wrong_answer(url, timeout_s)
    try:
        done = subprocess.run(
            health["command"],
            check=False,
            timeout=timeout_s,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
    except subprocess.TimeoutExpired:
        return f"the check took more than {timeout_s:g} s"
    except OSError as error:
        return f"the check cannot be started: {error.strerror}"
    return f"the check ended with exit code {done.returncode}" if done.returncode else ""


def _wrong_answer(url: str, timeout_s: float) -> str:
    parts = urlsplit(url)
    kind = HTTPSConnection if parts.scheme == "https" else HTTPConnection
    connection = kind(parts.hostname or "", parts.port, timeout=timeout_s)
    try:
        connection.request("GET", (parts.path or "/") + (f"?{parts.query}" if parts.query else ""))
        status = connection.getresponse().status
    except (OSError, HTTPException) as error:
        return f"{parts.netloc.rpartition('@')[2]}: {str(error) or 'no answer'}"
    finally:
        connection.close()
    return "" if 200 <= status < 400 else f"it answers with {status}"  # noqa: PLR2004 (2xx, 3xx)


def end(child: "subprocess.Popen[bytes]", ended: select.poll) -> None:
    """End it, if it must by force; what it has started weft ends."""
    child.terminate()
    grace_s = float(os.environ.get("WEFT_GRACE_S", "10"))
    deadline = time.monotonic() + grace_s
    while not ended.poll(max(0.0, deadline - time.monotonic()) * _MS):
        if time.monotonic() >= deadline:
            child.kill()
            break
    child.wait()


def say(text: str) -> None:
    """Say something on standard error."""
    sys.stderr.write(f"weft: {text}\n")
    sys.stderr.flush()


if __name__ == "__main__":
    os._exit(Minder(json.loads(sys.argv[1]), sys.argv[2:]).run())
