"""Asks for all that production lines have, to look at the answers."""

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from api.live import LiveWorker

Ask = Callable[..., Awaitable[Any]]
SOURCE = """
[source.scenes]
kind = "directory"
path = "/data/in"
job = "one"

[job.one]
command = ["true"]
"""
SINK = """
[sink.wekeo]
kind = "http"
url = "https://hook.example/"
message = "1"
"""
HRSI = (Path(__file__).parents[2] / "examples" / "lifecycles" / "hrsi.toml").read_text()


async def ask_lines(ask: Ask) -> None:
    setup, lifecycle = "/v1/setups/{setup}", "/v1/lifecycles/{lifecycle}"
    await ask("PUT", setup, setup="hrsi", body=HRSI + SOURCE)
    source = "/v1/sources/{source}"
    await ask("GET", "/v1/sources")
    await ask("GET", source, source="scenes")
    await ask("GET", f"{source}/items", source="scenes")
    await ask("PATCH", source, source="scenes", body={"paused": True})
    await ask("GET", setup, setup="hrsi")
    await ask("GET", lifecycle, lifecycle="hrsi")
    b = (await ask("POST", "/v1/batches", body={"lifecycle": "hrsi", "jobs": [{}]}))["id"]
    await ask(
        "POST", "/v1/batches/{b}/jobs/{j}/status", b=b, j=1, body={"status": "internal_error"}
    )
    await ask("GET", "/v1/batches/{b}/jobs/{j}", b=b, j=1)
    await ask("GET", "/v1/batches/{b}/jobs/{j}/history", b=b, j=1)
    await ask("DELETE", setup, setup="hrsi", body={})


async def ask_sinks(ask: Ask, worker: LiveWorker) -> None:
    sink, messages = "wekeo", "/v1/sinks/{sink}/deliveries"
    await ask("PUT", "/v1/setups/{setup}", setup="sinks", body=SINK)
    await ask("POST", "/v1/batches", body={"sink": sink, "jobs": [{"command": ["true"]}]})
    claimed = await worker.claim()
    await worker.start(claimed)
    await worker.end(claimed)
    (found,) = (await ask("GET", messages, sink=sink))["items"]
    message = found["delivery_id"]
    await ask("POST", f"{messages}/{{message}}/redeliver", sink=sink, message=message, body={})


async def ask_parameters(ask: Ask) -> None:
    parameter = "/v1/parameters/{parameter}"
    await ask("PUT", parameter, parameter="first", body={"value": "7d"})
    await ask("GET", parameter, parameter="first")
    await ask("GET", f"{parameter}/history", parameter="first")
    await ask("GET", "/v1/parameters")
