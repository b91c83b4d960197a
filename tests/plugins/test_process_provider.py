"""The provider `process`: workers on this host, found and ended by their mark alone."""

import asyncio
import os
import subprocess
import sys
import time
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from uuid import uuid4

import msgspec
import pytest

from weft.plugins.providers.process import MARK, ProcessProvider
from weft.ports.provider import FoundMachine, ProviderError, ProviderSite, WantedMachine
from weft.settings import Settings
from weft_testing.provider_suite import ProviderSuite, until_gone, wanted

pytestmark = pytest.mark.slow
WAITS = "import signal; print('there', flush=True); signal.pause()"


@pytest.fixture
def site(tmp_path: Path) -> ProviderSite:
    """Give a deployment whose workers wait, because its home has no database."""
    package = tmp_path / "weft" / "run"
    package.mkdir(parents=True)
    for directory in (package, package.parent):
        (directory / "__init__.py").touch()
    (package / "worker.py").write_text(WAITS)
    environment = {"PATH": os.environ["PATH"], "PYTHONPATH": str(tmp_path)}
    return ProviderSite(
        tag=uuid4().hex, environment=environment, logs=tmp_path, section=Settings().section
    )


@pytest.fixture
async def provider(site: ProviderSite) -> AsyncIterator[ProcessProvider]:
    found = ProcessProvider(site)
    yield found
    for one in await found.list():
        await found.delete(one.name)


class TestProcessProvider(ProviderSuite):
    """The suite of the port."""


def test_a_machine_gets_its_region_and_its_kind_as_labels() -> None:
    one = wanted()
    spot = msgspec.structs.replace(one.flavour, preemptible=True)
    other = msgspec.structs.replace(one, flavour=spot, region="eu")

    assert one.labels == {"rack": "12"}
    assert other.labels == {"rack": "12", "region": "eu", "preemptible": "yes"}


async def test_a_successor_finds_and_ends_machines_of_its_deployment_only(
    site: ProviderSite, provider: ProcessProvider
) -> None:
    one = wanted()
    made = await provider.create(one)
    successor = ProcessProvider(site)
    other = ProcessProvider(replace(site, tag=f"{site.tag}x"))
    await other.delete(one.name)

    assert await successor.list() == [made]
    assert await other.list() == []
    await successor.delete(one.name)
    await until_gone(provider, one.name)
    assert (site.logs / f"machine-{one.name}.log").exists()


async def test_logs_of_machines_that_are_gone_stay_for_a_day(
    site: ProviderSite, provider: ProcessProvider
) -> None:
    one, other = wanted(), msgspec.structs.replace(wanted(), name="lives")
    for name in (one.name, "old", *(f"m{n}" for n in range(60))):
        (site.logs / f"machine-{name}.log").write_text("no database")
    for name, age_s in (("old", 90_000), ("m7", 600)):
        os.utime(site.logs / f"machine-{name}.log", (time.time() - age_s,) * 2)
    await provider.create(other)
    os.utime(site.logs / "machine-lives.log", (time.time() - 90_000,) * 2)
    await provider.delete(one.name)
    left = {log.name for log in site.logs.glob("machine-*.log")}

    assert len(left) == 51
    assert "machine-lives.log" in left
    assert not left & {"machine-old.log", "machine-m7.log"}


async def test_a_process_that_only_has_the_mark_is_left_alone(
    site: ProviderSite, provider: ProcessProvider
) -> None:
    """A job inherits the variable of its worker."""
    one = wanted()
    environment = {**site.environment, MARK: f"{site.tag}/{one.name}"}
    with subprocess.Popen(  # noqa: ASYNC220 (it returns at once)
        [sys.executable, "-c", WAITS], env=environment, stdout=subprocess.PIPE
    ) as stranger:
        assert stranger.stdout is not None
        await asyncio.to_thread(stranger.stdout.readline)
        listed = await provider.list()
        await provider.delete(one.name)
        lives = stranger.poll() is None
        stranger.kill()

    assert listed == []
    assert lives


def variables_of(found: FoundMachine) -> dict[str, str]:
    """Return the settings with which a machine was started."""
    given = Path(f"/proc/{found.provider_id}/environ").read_text().split("\0")
    return dict(one.split("=", 1) for one in given if one.startswith("WEFT_"))


async def test_machines_share_out_the_gpus_of_the_pool(provider: ProcessProvider) -> None:
    """Each has its own; what a machine had is free when it is gone."""
    small = wanted().flavour
    flavour = msgspec.structs.replace(small, gpus=2, countables={"matlab": 3})

    def machine(gpus: str = "0,1,2,3") -> WantedMachine:
        return msgspec.structs.replace(wanted(), flavour=flavour, options={"gpus": gpus})

    first, second = [await provider.create(machine()) for _ in range(2)]
    plain = await provider.create(wanted())
    with pytest.raises(ProviderError, match="0 of the 4 GPUs") as full:
        await provider.create(machine())
    with pytest.raises(ProviderError, match="option gpus"):
        await provider.create(machine("0,0"))
    await provider.delete(first.name)
    third = await provider.create(machine())
    given = [variables_of(one) for one in (second, third, plain)]

    assert full.value.is_full
    assert [one["WEFT_WORKER_GPUS"] for one in given] == ["2,3", "0,1", "none"]
    assert [one["WEFT_WORKER_OFFERS"] for one in given] == ["matlab=3", "matlab=3", ""]
