"""The description is true: schemathesis, with all its checks, finds no reply that differs."""

import asyncio
import os
import sys
from pathlib import Path

import httpx
import pytest

from api.live import TOKEN, LiveApi, add

HERE = Path(__file__).parent
DOCUMENT = {
    "name": "one",
    "groups": [{"path": "/a"}, {"name": "pca"}],
    "jobs": [{"command": ["true"], "group": "/a", "groups": ["pca"]}, {"count": 3}],
}


FEW = ["--phases=fuzzing", "--max-examples=1"]
"""Of roles that are refused more than others: all examples of the highest are tried anyway."""
EXAMPLES = {
    "admin": ["--phases=examples,coverage,fuzzing", "--max-examples=5"],
    **dict.fromkeys(("tenant-admin", "operator", "user", "viewer", "worker"), FEW),
}


SETTINGS = {"failed_logins_per_s": 0}
"""Wrong tokens are answered as often as they are sent: a fast machine sends more than allowed."""


@pytest.mark.heavy
@pytest.mark.timeout(1200)
@pytest.mark.parametrize("role", EXAMPLES)
async def test_every_reply_is_the_one_described(
    api: LiveApi, http: httpx.AsyncClient, tmp_path: Path, role: str
) -> None:
    token = TOKEN
    if role != "admin":
        token = (await add(http, "ann", role=role))["authorization"].removeprefix("Bearer ")
    batch = (await http.post("/v1/batches", json=DOCUMENT)).json()["id"]
    await http.post(f"/v1/batches/{batch}/updates", json={"n_jobs": 5, "n_groups": 2})
    # Beside the interpreter, where the environment's programs are.
    program = Path(sys.executable).with_name("schemathesis")
    process = await asyncio.create_subprocess_exec(
        program,
        "--config-file",
        HERE / "schemathesis.toml",
        "--no-color",
        "run",
        f"{api.url}/openapi.json",
        "--checks=all",
        *EXAMPLES[role],
        "--seed=1",
        "--continue-on-failure",
        cwd=tmp_path,
        env={
            **os.environ,
            "SCHEMATHESIS_HOOKS": "schemathesis_hooks",
            "PYTHONPATH": str(HERE),
            "WEFT_TEST_TOKEN": token,
        },
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    text, _ = await process.communicate()

    assert process.returncode == 0, text.decode()
