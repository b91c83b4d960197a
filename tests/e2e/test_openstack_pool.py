"""A pool by the rules of `examples/pools/hrsi.toml` on a real OpenStack.

Its servers run nothing, so the test starts what their user data says, as each machine would.
"""

import base64
import json
import os
import shlex
import subprocess
import time
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from socket import socket
from typing import Any

import pytest

from e2e.conftest import PROGRAM, Weft
from e2e.pool_site import PoolSite
from plugins.openstack_cloud import OpenStackCloud, openstack_cloud
from weft_openstack.provider import FOLDER

pytestmark = [
    pytest.mark.engine(name="openstack"),
    pytest.mark.timeout(600),
    # The SDK warns of itself.
    pytest.mark.filterwarnings("ignore::PendingDeprecationWarning"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
]
RULES = Path(__file__).parents[2] / "examples" / "pools" / "hrsi.toml"
QUEUE = """
[[queue]]
name = "medium"
priority = 1
pools = ["medium"]
"""
WITHIN_S = 180.0


class Site(PoolSite):
    """A server whose pool `medium` is on a cloud, and the machines that were started."""

    def __init__(self, weft: Weft, cloud: OpenStackCloud, path: Path) -> None:
        super().__init__(weft, path)
        self.admin = cloud.connect()
        self.workers: dict[str, subprocess.Popen[bytes]] = {}

    def servers(self) -> dict[str, Any]:
        """Return the servers of pools, by name."""
        found = self.admin.compute.servers(details=True, all_projects=True)
        return {
            one.name: one
            for one in found
            if one.metadata.get("weft_pool") == "medium" and one.task_state != "deleting"
        }

    def states(self) -> dict[str, str]:
        return {
            one["machine"]: one["state"]
            for one in self.told("pool", "show", "medium")["machine_list"]
        }

    def log(self, kind: str) -> dict[str, str]:
        """Return what was decided about machines, by their names, with the reasons."""
        found = self.told("pool", "log", "medium", "-n", "999")
        return {one["machine"]: one["reason"] for one in found if one["kind"] == kind}

    def submitted(self, n: int) -> str:
        """Submit jobs that each take a machine until a file of their number is there."""
        wait = f"while [ ! -e {self.path}/end-$WEFT_JOB ]; do sleep 0.1; done"
        job = {"script": wait, "queue": "medium", "resources": {"cpu": 2}}
        text = json.dumps({"jobs": [job] * n})
        done = self.weft.told("submit", "-", "--format", "json", stdin=text.encode())
        return done.decode().strip()

    def running(self, *batches: str) -> dict[str, str]:
        """Return the jobs that run, by their workers."""
        found = {}
        for batch in batches:
            for one in self.told("jobs", batch, "--state", "running"):
                job = f"{batch}.j{one['job_id']}"
                found[self.told("status", job)["attempts"][-1]["worker"]] = job
        return found

    def until(self, is_so: Any, what: str) -> None:  # noqa: ANN401 (a function without arguments)
        deadline = time.monotonic() + WITHIN_S
        while not is_so():
            assert time.monotonic() < deadline, (what, self.states(), self.log("fail"))

    def boot(self, name: str) -> None:
        """Do what cloud-init and systemd do with the user data of a server."""
        text = base64.b64decode(self.admin.compute.get_server(self.servers()[name].id).user_data)
        root = self.path / name
        files = json.loads(text.decode().partition("\n")[2])["write_files"]
        for one in files:
            file = root / one["path"].lstrip("/")
            file.parent.mkdir(parents=True, exist_ok=True)
            file.touch(int(one["permissions"], 8))
            file.write_text(one["content"])
        self.start(name)

    def start(self, name: str) -> None:
        """Start the worker of a machine."""
        root = self.path / name
        unit = (root / "etc/systemd/system/weft-worker.service").read_text()
        (start,) = (line for line in unit.splitlines() if line.startswith("ExecStart="))
        settings = (root / f"{FOLDER.lstrip('/')}/worker.env").read_text()
        variables = dict(one.split("=", 1) for one in shlex.split(settings))
        program, *arguments = shlex.split(start.removeprefix("ExecStart="))
        assert program == "/usr/local/bin/weft"
        with (root / "log").open("ab") as said:
            self.workers[name] = subprocess.Popen(
                [*PROGRAM, *(one.replace(FOLDER, f"{root}{FOLDER}") for one in arguments)],
                env={**_outside(), **variables, "WEFT_HOME": str(root / "home")},
                stdout=said,
                stderr=subprocess.STDOUT,
            )


def _outside() -> Mapping[str, str]:
    return {name: text for name, text in os.environ.items() if not name.startswith("WEFT_")}


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    weft = Weft(tmp_path / "home")
    with openstack_cloud() as cloud, socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
        free.close()
        settings = {
            "WEFT_AUTOSCALE_S": "1",
            "WEFT_PROVIDER_LIST_S": "5",
            "WEFT_OPENSTACK_CLOUDS_FILE": str(cloud.clouds_file),
            "WEFT_OPENSTACK_CLOUD": "demo",
            "WEFT_OPENSTACK_CONNECT": f"http://127.0.0.1:{port}",
        }
        weft.told("up", "--detach", "--port", str(port), env=settings)
        found = Site(weft, cloud, tmp_path)
        try:
            yield found
        finally:
            for one in found.workers.values():
                one.terminate()
                one.wait()
            weft.run("down")
            for server in found.servers().values():
                found.admin.compute.delete_server(server)


def applied(site: Site) -> None:
    """Describe the pool as the example does, but smaller and faster."""
    (rules,) = (one for one in tomllib.loads(RULES.read_text())["pool"] if one["name"] == "medium")
    assert (rules["create_batch"], rules["creates_per_round"]) == (3, 10)
    (flavour,) = rules["flavours"]
    name = flavour["name"]
    if not site.admin.compute.find_flavor(name):
        site.admin.compute.create_flavor(name=name, vcpus=2, ram=1024, disk=1)
    text = RULES.read_text().partition('[[pool]]\nname = "extra-large"')[0]
    for old, new in (
        (
            'provider = "process"',
            'provider = "openstack"\noptions = {image = "test", networks = "none"}',
        ),
        ("max_workers = 210", "max_workers = 10"),
        ("idle_s = 120", "idle_s = 3"),
        ("stale_s = 900", "stale_s = 40"),
        ('memory = "16Gi"', 'memory = "1Gi"'),
        ('storage = "40Gi"', 'storage = "10Mi"'),
    ):
        assert old in text
        text = text.replace(old, new)
    for kind, document in (("pool", text), ("queue", QUEUE)):
        file = site.path / f"{kind}.toml"
        file.write_text(document)
        site.weft.told(kind, "apply", str(file), "--yes")


def test_a_pool_of_servers_grows_loses_stale_ones_and_shrinks(site: Site) -> None:
    applied(site)
    first = site.submitted(1)
    site.until(lambda: len(site.servers()) >= 3, "three servers at a time")
    assert len(site.servers()) == 3
    rest = site.submitted(9)
    site.until(lambda: len(site.servers()) == 10, "ten servers")
    for name in sorted(site.servers())[:2]:
        site.boot(name)
    site.until(lambda: len(site.running(first, rest)) == 2, "two jobs run")
    (idle, its_job), (busy, other_job) = site.running(first, rest).items()
    jobs = {f"{first}.j1", *(f"{rest}.j{job}" for job in range(1, 10))}
    assert site.weft.run("cancel", *sorted(jobs - {its_job, other_job})).returncode == 0
    site.until(lambda: set(site.states()) == {idle, busy}, "servers without a worker go")
    stale = site.log("delete")
    assert len(stale) >= 8, "some were replaced while jobs still waited"
    assert not stale.keys() & {idle, busy}, "none with a job"
    assert set(stale.values()) == {"no worker came within 40 s"}
    assert site.states() == {idle: "active", busy: "active"}

    (site.path / f"end-{its_job}").touch()
    site.until(lambda: idle not in site.servers(), "the idle server goes")
    assert site.workers[idle].wait(60) == 0, "it drained, and systemd does not start it again"
    site.until(lambda: set(site.states()) == {busy}, "it is gone")
    assert site.log("cordon")[idle].startswith("nothing ran on it for")
    assert site.log("delete")[idle] == "nothing runs on it since its cordon"
    assert site.states() == {busy: "active"}
    assert site.running(first, rest) == {busy: other_job}
    site.start(idle)
    assert site.workers[idle].wait(60) != 0, "its token has ended with it"
    assert "Authorization: Bearer TOKEN" in (site.path / idle / "log").read_text()

    (site.path / f"end-{other_job}").touch()
    site.until(lambda: not site.states(), "the last server goes")
    assert site.servers() == {}
    assert site.told("status", other_job)["state"] == "success"
    assert len(site.told("status", other_job)["attempts"]) == 1
    site.weft.told("audit")
    logs = "".join(one.read_text() for one in site.weft.home.rglob("*.log"))
    assert "pool.decided" in logs
    for name in site.workers:
        assert (site.path / name / "etc/weft/worker.token").read_text().strip() not in logs
