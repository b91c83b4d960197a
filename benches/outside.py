"""Workers of benches that reach the api by the link, and the token that lets them."""

import asyncio
import os
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final

import httpx

from weft.bench.plan import BenchFailed
from weft.client.api import Api
from weft.run.home import Home

LOOK_S: Final = 0.2


async def work_token(url: str, token: str | None, file: Path, *, pool: str, names: str) -> Path:
    """Write a token for workers of a pool into a file. `token`: of an administrator."""
    asked = {"name": file.stem, "scopes": ["work"], "pool": pool, "workers": names}
    async with httpx.AsyncClient(base_url=url) as http:
        bearer = {"authorization": f"Bearer {token}"}
        answer = await http.post("/v1/tokens", json=asked, headers=bearer)
    if answer.is_error:
        raise BenchFailed("there is no token for workers", detail=answer.text)
    _write_private(file, answer.json()["token"])
    return file


def _write_private(file: Path, text: str) -> None:
    file.touch(0o600)
    file.write_text(text)


async def weft(home: Home, *words: str) -> str:
    """Return what a command prints."""
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-P",
        "-m",
        "weft.cli",
        *words,
        "--home",
        str(home.path),
        stdout=asyncio.subprocess.PIPE,
    )
    out, _ = await process.communicate()
    assert process.returncode == 0, words
    return out.decode()


@asynccontextmanager
async def worker(directory: Path, *words: str, **environment: str) -> AsyncIterator[int]:
    """Run a worker with these words, registered; give its pid. `directory`: its home."""
    log = directory / f"worker-{'-'.join(words)[:40].replace('/', '_')}.log"
    kept = {name: text for name, text in os.environ.items() if not name.startswith("WEFT_")}
    with log.open("wb") as output:
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-P",
            "-m",
            "weft.cli",
            "worker",
            *words,
            "--log-format",
            "json",
            env={**kept, **environment, "WEFT_HOME": str(directory)},
            stderr=output,
        )
    try:
        while b"worker.registered" not in log.read_bytes():
            if process.returncode is not None:
                raise BenchFailed(f"the worker ended: {log.read_text()[-500:]}")
            await asyncio.sleep(LOOK_S)
        yield process.pid
    finally:
        if process.returncode is None:
            process.terminate()
        await process.wait()


@asynccontextmanager
async def linked_worker(
    home: Home,
    url: str,
    *words: str,
    name: str = "linked",
    cores: int = 2,
    through: str = "",
    **environment: str,
) -> AsyncIterator[int]:
    """Run a worker of pool `name` with a home of its own, below the other one; give its pid.
    `through`: the address by which it reaches the api, if that is another one.
    """
    directory = home.path / f"outside-{name}"
    directory.mkdir(exist_ok=True)
    token = await work_token(
        url, home.token(), directory / "token", pool=name, names=f"{name[0]}*"
    )
    link = ("--connect", through or url, "--token-file", str(token), "--worker-name", name)
    size = ("--worker-cpu", str(cores), "--worker-memory", "4Gi", "--pool", name)
    async with worker(directory, *link, *size, *words, **environment) as pid:
        yield pid


def queues_of(*pools: str) -> str:
    """Return the description of a queue for each pool, of the jobs whose attribute `where` names
    it.
    """
    return "".join(
        f'[[queue]]\nname = "{pool}"\npriority = {priority}\n'
        f'guard = "job.attributes.where == \'{pool}\'"\npools = ["{pool}"]\n'
        for priority, pool in enumerate(reversed(pools), 1)
    )


async def open_pools(home: Home, *pools: str, text: str = "") -> None:
    """Make pools with queues. `text`: the description of the pools, if they have a provider."""
    described = text or "".join(f'[[pool]]\nname = "{pool}"\n' for pool in pools)
    for kind, words in (("pool", described), ("queue", queues_of(*pools))):
        file = home.path / f"{kind}.toml"
        await asyncio.to_thread(file.write_text, words)
        await weft(home, kind, "apply", str(file), "--yes")


async def run_many(client: Api, where: str, count: int, *words: str) -> float:
    """Return the seconds until so many `/bin/true`, or these words, have ended on the workers of a
    pool.
    """
    one = {"command": [*words] or ["/bin/true"], "count": count, "timeout_s": 60}
    rest = {"attributes": {"where": where}, "resources": {"cpu": "1", "memory": "64Mi"}}
    begun, succeeded = time.perf_counter(), 0
    batch = await client.create_batch({"jobs": [{**one, **rest}]})
    async for document in client.watch_batch(int(batch["id"])):
        succeeded = document["n_succeeded"]
    if succeeded != count:
        raise BenchFailed("a job failed", detail=f"{succeeded} of {count} succeeded.")
    return time.perf_counter() - begun
