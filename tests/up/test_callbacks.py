"""A whole weft that calls back: signed with the secret it tells, and whatever dies meanwhile."""

import json
import os
import signal
from pathlib import Path
from typing import Any

import pytest

from up.http_receiver import receiving
from up.weft_up import get, post, run_weft, up
from weft.callbacks import Callback, verify

pytestmark = pytest.mark.heavy


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

    assert rows[0]["state"] == "given_up"
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
