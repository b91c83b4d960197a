"""Asks for all that production lines have, to look at the answers."""

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from api.live import LiveWorker
from weft.core.states import AttemptKey

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
    text = SOURCE.replace('job = "one"', 'job = "one"\nsink = "wekeo"') + SINK
    body = {"document": text, "item": {"key": "a"}}
    await ask("POST", f"{setup}/trial", setup="hrsi", body={**body, "product": {}})
    wanted = [{"from": "store://none/x"}, {"from": "weft://b1.j1/x", "optional": True}]
    await ask("POST", "/v1/files/trial", body={"inputs": wanted, "stores": ["a"]})
    source = "/v1/sources/{source}"
    await ask("GET", "/v1/lines")
    await ask("GET", "/v1/sources")
    await ask("GET", source, source="scenes")
    await ask("GET", f"{source}/items", source="scenes")
    await ask("GET", f"{source}/history", source="scenes", query="?key=a")
    await ask("POST", f"{source}/trial", source="scenes", body={})
    rerun = {"series": "32TLR", "from": "2027-04-13"}
    await ask("POST", f"{source}/rerun", source="scenes", body=rerun)
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
    claimed = await worker.claim_and_start()
    await worker.end(claimed)
    (found,) = (await ask("GET", messages, sink=sink))["items"]
    message = found["delivery_id"]
    await ask("POST", f"{messages}/{{message}}/redeliver", sink=sink, message=message, body={})
    await ask("POST", "/v1/sinks/{sink}/given-up", sink=sink, body={"decision": "send"})
    await ask_products(ask, worker)


async def ask_products(ask: Ask, worker: LiveWorker) -> None:
    product = "/v1/products/{product}"
    await ask("POST", "/v1/batches", body={"jobs": [{"command": ["true"]}]})
    (one,) = await worker.claim(1)
    key = AttemptKey(one.batch_id, one.job_id, one.attempt)
    inputs = [{"from": "file:///data/a"}]
    await worker.store.record_products(
        worker.incarnation_id, key, [{"type": "FSC"}], inputs=inputs
    )
    await worker.start([one])
    await worker.end([one])
    (found,) = (await ask("GET", "/v1/products"))["items"]
    await ask("GET", product, product=found["id"])
    await ask("DELETE", product, product=found["id"], body={})


async def ask_imports(ask: Ask) -> None:
    job = {
        "id": "1",
        "user": "tester",
        "created_at": "2024-05-01T10:00:00Z",
        "ended_at": "2024-05-01T10:00:00Z",
        "document": {},
    }
    await ask("POST", "/v1/imports", body={"door": "line", "jobs": [job]})
