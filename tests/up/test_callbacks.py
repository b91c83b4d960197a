"""A whole weft that calls back: signed with the secret it tells, and whatever dies meanwhile."""

import json
import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from up.weft_up import DEADLINE_S, get, post, run_weft, up
from weft.callbacks import Callback, verify

pytestmark = pytest.mark.heavy


class Receiver:
    """Collects requests; the first is never answered, or with `first_status`."""

    def __init__(self, first_status: int | None = None) -> None:
        self.first_status = first_status
        self.requests: list[tuple[dict[str, str], bytes]] = []
        self.arrived = threading.Condition()
        self.closing = threading.Event()
        self.port = 0

    def until(self, count: int) -> list[tuple[dict[str, str], bytes]]:
        with self.arrived:
            assert self.arrived.wait_for(lambda: len(self.requests) >= count, DEADLINE_S)
            return list(self.requests)


@contextmanager
def receiving(first_status: int | None = None) -> Iterator[Receiver]:
    receiver = Receiver(first_status)

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            with receiver.arrived:
                receiver.requests.append((dict(self.headers), body))
                is_first = len(receiver.requests) == 1
                receiver.arrived.notify_all()
            if is_first and receiver.first_status is None:
                receiver.closing.wait()
                return
            self.send_response(receiver.first_status or 200 if is_first else 200)
            self.end_headers()

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002, ANN401 (its name)
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    receiver.port = server.server_address[1]
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield receiver
    finally:
        receiver.closing.set()
        server.shutdown()
        server.server_close()
        thread.join()


@pytest.mark.heavy
def test_killed_driver_is_succeeded_and_the_receiver_told(home: Path) -> None:
    environ = {"WEFT_CALLBACK_PRIVATE_HOSTS": "127.0.0.1", "WEFT_HEARTBEAT_S": "5"}
    with receiving() as receiver, up(home, **environ) as weft:
        weft.until_ready()
        url = f"http://127.0.0.1:{receiver.port}/hook"
        jobs = [{"command": ["true"]}] * 3
        batch = post(home, "/v1/batches", {"callback": url, "jobs": jobs})["id"]
        receiver.until(1)
        os.kill(weft.pid("driver"), signal.SIGKILL)
        first, second = receiver.until(2)[:2]
        secret = run_weft("callback", "secret", "--home", str(home)).stdout.strip()
        told: list[Callback] = [verify(secret, headers, body) for headers, body in (first, second)]
        while (rows := _rows(home, batch))[0]["state"] == "pending":
            pass
        shown = run_weft("callback", "ls", f"b{batch}", "--home", str(home), COLUMNS="300").stdout
        logs = (home / "log" / "driver.log").read_text()
        audit = run_weft("audit", "--home", str(home))

    assert told[0].delivery == told[1].delivery == rows[0]["delivery"]
    assert told[1].document["n_succeeded"] == 3
    assert (rows[0]["state"], len(rows)) == ("delivered", 1)
    assert "delivered" in shown
    assert "callback.delivered" in logs
    assert secret not in logs
    assert audit.returncode == 0, audit.stdout


def _rows(home: Path, batch: int) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = get(home, f"/v1/batches/{batch}/callbacks")["items"]
    return rows


@pytest.mark.heavy
def test_what_was_given_up_is_sent_again_at_once_when_somebody_asks(home: Path) -> None:
    with (
        receiving(first_status=410) as receiver,
        up(home, WEFT_CALLBACK_PRIVATE_HOSTS="127.0.0.1") as weft,
    ):
        weft.until_ready()
        url = f"http://127.0.0.1:{receiver.port}/hook"
        batch = post(home, "/v1/batches", {"callback": url, "jobs": [{}]})["id"]
        while not (rows := _rows(home, batch)) or rows[0]["state"] == "pending":
            pass
        asked = run_weft("callback", "redeliver", f"b{batch}", "--home", str(home))
        first, second = receiver.until(2)
        while (again := _rows(home, batch))[0]["state"] == "pending":
            pass
        none = run_weft("callback", "redeliver", f"b{batch}", "--home", str(home))

    assert rows[0]["state"] == "failed"
    assert f"{rows[0]['delivery_id']}: will be sent again now" in asked.stderr
    assert (again[0]["state"], again[0]["n_attempts"]) == ("delivered", 2)
    assert first[0]["Weft-Delivery"] == second[0]["Weft-Delivery"]
    assert first[1] == second[1]
    assert (none.returncode, none.stderr.strip()) == (0, "weft: no callback was given up")


def test_private_receiver_is_refused_by_default(home: Path) -> None:
    with up(home) as weft:
        weft.until_ready()
        found = json.loads(
            run_weft("submit", "--home", str(home), "--json", str(_document(home))).stderr or "{}"
        )

    assert found["code"] == "API.INVALID_VALUE"
    assert "callback_private_hosts" in found["detail"]


def _document(home: Path) -> Path:
    path = home / "batch.json"
    path.write_text('{"callback": "http://169.254.169.254/", "jobs": [{}]}')
    return path
