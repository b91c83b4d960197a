"""What tests of Agave's door have in common: an application, and a job of it that says all."""

import json
from pathlib import Path
from tempfile import TemporaryDirectory

import httpx

from api.live import TOKEN
from weft.client.aio import Client

APP = {
    "name": "any",
    "version": "1",
    "templatePath": "wrapper.sh",
    "executionSystem": "default",
    "inputs": [{"id": "data", "value": {"validator": "[a-z/:.]+"}}],
    "parameters": [
        {"id": "say", "value": {"validator": "[a-z]+"}},
        {"id": "n", "value": {"type": "number"}},
    ],
}
FULL = {
    "name": "n",
    "appId": "any-1",
    "batchQueue": "default",
    "nodeCount": 1,
    "processorsOnEachNode": 1,
    "memoryPerNode": "1GB",
    "maxRunTime": "01:00:00",
    "archive": True,
    "archiveOnAppError": True,
    "archiveSystem": "weft",
    "archivePath": "${JOB_TENANT}/${JOB_NAME}",
    "inputs": {"data": "http://a.example/x"},
    "parameters": {"say": "x", "n": 3},
    "notifications": [
        {
            "url": "http://a.example/${JOB_ID}",
            "event": "*",
            "persistent": False,
            "policy": {"retryStrategy": "DELAYED", "retryLimit": 3},
        }
    ],
}


async def submitted(http: httpx.AsyncClient) -> str:
    """Add the application, and submit the job; return its id."""
    with TemporaryDirectory() as name:
        (Path(name) / "app.json").write_text(json.dumps(APP))
        (Path(name) / "wrapper.sh").write_text("exit 0\n")
        async with Client(str(http.base_url), TOKEN) as client:
            await client.add_app(Path(name))
    answer = await http.post("/jobs/v2", json=FULL)
    assert answer.status_code == 201, answer.text
    return str(answer.json()["result"]["id"])
