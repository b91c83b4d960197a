"""A server whose pool `hpc` grows by machines that a cluster lends."""

import json
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from socket import socket
from typing import Any

from e2e.conftest import PROGRAM, Weft

POOL = """
[[pool]]
name = "hpc"
provider = "{provider}"
max_workers = {max_workers}
idle_s = 2
stale_s = 120
window_s = 1
[pool.options]
program = "{program}"
[[pool.flavours]]
name = "node"
cpu = 1
memory = "512Mi"
"""
"""Of a provider that needs no more to be told."""
WITHIN_S = 300.0


def process_pool(name: str, *of_flavour: str, **fields: object) -> str:
    """Describe a pool of workers on this host, each with one core."""
    lines = (f"{field} = {value}" for field, value in fields.items())
    pool = ("[[pool]]", f'name = "{name}"', 'provider = "process"', *lines)
    flavour = ("[[pool.flavours]]", 'name = "small"', "cpu = 1", 'memory = "1Gi"', *of_flavour)
    return "\n".join((*pool, *flavour, ""))


def queue_of(pool: str, priority: int = 1) -> str:
    """Describe the queue with the name of its only pool."""
    return f'[[queue]]\nname = "{pool}"\npriority = {priority}\npools = ["{pool}"]\n'


class PoolSite:
    """A server with such a pool; `cluster`: what lends its machines."""

    def __init__(self, weft: Weft, path: Path, cluster: Any = None) -> None:  # noqa: ANN401 (of a kind)
        self.weft, self.path, self.cluster = weft, path, cluster

    def told(self, *arguments: str) -> Any:  # noqa: ANN401 (what the command prints)
        done = self.weft.run(*arguments, "--json")
        assert done.returncode == 0, done.stderr.decode()
        return json.loads(done.stdout)

    def apply(self, pool: str, **words: object) -> None:
        """Describe the pool, whose machines run weft by `program`, and the queue that uses it."""
        program = self.path / "program"
        program.write_text(f'#!/bin/sh\nexec {" ".join(map(str, PROGRAM))} "$@"\n')
        program.chmod(0o755)
        text = pool.format(program=program, **words)
        for kind, document in (("pool", text), ("queue", queue_of("hpc"))):
            file = self.path / f"{kind}.toml"
            file.write_text(document)
            self.weft.told(kind, "apply", str(file), "--yes")

    def submit(self, **job: object) -> str:
        return self.weft.submit({"queue": "hpc", **job})

    def machines(self) -> list[Any]:
        found: list[Any] = self.told("pool", "show", "hpc")["machine_list"]
        return found

    def until(self, is_so: Callable[[], object], what: str) -> None:
        deadline = time.monotonic() + WITHIN_S
        while not is_so():
            log = self.told("pool", "log", "hpc")
            assert time.monotonic() < deadline, (what, self.machines(), log)


@contextmanager
def pool_site(path: Path, settings: Mapping[str, str], *, connect: str) -> Iterator[Weft]:
    """Run a server with these settings; `connect`: the one that says where machines reach it."""
    weft = Weft(path / "home")
    with socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    own = {"WEFT_AUTOSCALE_S": "1", connect: f"http://127.0.0.1:{port}", **settings}
    command = ("up", "--detach", "--port", str(port))
    up = weft.run(*command, env=own, timeout_s=300)
    if up.returncode:  # a busy machine takes its time to make the database
        up = weft.run(*command, env=own, timeout_s=300)
    assert up.returncode == 0, up.stderr.decode()
    try:
        yield weft
    finally:
        weft.run("down", timeout_s=120)
