"""The provider `nomad` on a real Nomad."""

import asyncio
import json
import time
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from contexts import async_fixture_of
from plugins.provider_site import CONNECT, TOKEN, ProgramSuite, cleaned, machine_for, site_with
from runners.nomad_cluster import NomadCluster, nomad_cluster
from weft.ports.provider import ProviderError, ProviderSite
from weft_nomad.provider import NomadProvider, id_of, token_path
from weft_nomad.settings import NomadSettings
from weft_testing.provider_suite import wanted

pytestmark = [pytest.mark.engine(name="nomad"), pytest.mark.timeout(600)]
PROGRAM = """#!/bin/sh
printf '%s\\n' "$@" >"$0.words"; env >"$0.env"; stat -c %a "$3" >"$0.mode"; cat "$3" >"$0.token"
trap ': >"$0.term"; exit 0' TERM
: >"$0.ready"
while :; do sleep 0.1; done
"""


@pytest.fixture(scope="module")
def cluster() -> Iterator[NomadCluster]:
    with nomad_cluster() as found:
        yield found
        until = time.monotonic() + 60
        while any(one["ClientStatus"] == "running" for one in found.ask("GET", "allocations")):
            assert time.monotonic() < until, "a worker of a deleted machine runs"


@pytest.fixture
def site(tmp_path: Path, cluster: NomadCluster) -> ProviderSite:
    own = NomadSettings(nomad_address=cluster.address, nomad_connect=CONNECT, nomad_core_mhz=100)
    return site_with(own, tmp_path)


provider = async_fixture_of(lambda site: cleaned(NomadProvider(site)))


class TestNomadProvider(ProgramSuite):
    """The suite of the port."""


async def until_there(path: Path) -> str:
    async with asyncio.timeout(60):
        while not path.exists():
            await asyncio.sleep(0)
    return path.read_text()


async def test_a_job_starts_a_worker_with_its_token(
    provider: NomadProvider, program: Path, cluster: NomadCluster, site: ProviderSite
) -> None:
    """What Nomad shows of the job has no token; it goes with the machine, which ends in order."""
    one = machine_for(program, slots=3)
    made = await provider.create(one)
    await until_there(program.with_name("weft.ready"))
    number = id_of(site.tag, one.name)
    told = [
        json.dumps(cluster.ask("GET", path))
        for path in (f"job/{number}", f"job/{number}/allocations", "allocations?task_states=true")
    ]
    words = program.with_name("weft.words").read_text().split("\n")
    variables = program.with_name("weft.env").read_text()

    assert words[:2] == ["worker", "--token-file"]
    assert program.with_name("weft.token").read_text() == f"{TOKEN}\n"
    assert program.with_name("weft.mode").read_text() == "600\n"
    assert TOKEN not in variables + "".join(told) + repr(one)
    assert f"WEFT_CONNECT={CONNECT}\n" in variables
    assert f"WEFT_WORKER_NAME={one.name}\n" in variables
    assert "WEFT_WORKER_SLOTS=3\n" in variables
    assert await provider.describe(one.name) == msgspec.structs.replace(made, waits="")
    await provider.delete(one.name)
    await until_there(program.with_name("weft.term"))
    assert cluster.ask("GET", f"vars?prefix={token_path(number)}") == []


async def test_a_machine_that_no_node_takes_says_why(
    provider: NomadProvider, program: Path
) -> None:
    one = machine_for(program)
    large = msgspec.structs.replace(one.flavour, memory_mib=10_000_000)
    await provider.create(msgspec.structs.replace(one, flavour=large))
    (found,) = await provider.list()
    assert found.error == ""
    assert "memory is exhausted" in found.waits


async def test_a_worker_that_ends_is_an_error(provider: NomadProvider, program: Path) -> None:
    """At once or later; Nomad begins it no second time, nor does another call."""
    program.write_text(f"#!/bin/sh\necho began >>{program}.log; exit 3\n")
    one = machine_for(program)
    why = ""
    async with asyncio.timeout(60):
        while not why:
            try:
                await provider.create(one)
            except ProviderError as error:
                why = str(error)
    with pytest.raises(ProviderError, match="worker has ended"):
        await provider.create(one)
    (found,) = await provider.list()

    assert found.error == why
    assert "exit code: 3" in why.lower()
    assert Path(f"{program}.log").read_text() == "began\n"


async def test_a_maker_that_died_before_the_job_was_there_is_gone_on_with(
    provider: NomadProvider, program: Path, cluster: NomadCluster, site: ProviderSite
) -> None:
    """Its token lay there alone: the worker gets that of the next call."""
    one = machine_for(program)
    path = token_path(id_of(site.tag, one.name))
    cluster.ask("PUT", f"var/{path}", {"Path": path, "Items": {"token": "weft_dead"}})
    await asyncio.gather(*(provider.create(one) for _ in range(2)))
    await until_there(program.with_name("weft.ready"))
    assert program.with_name("weft.token").read_text() == f"{TOKEN}\n"
    assert len(await provider.list()) == 1


async def test_what_nomad_refuses_and_an_outage_are_named(
    provider: NomadProvider, program: Path, site: ProviderSite
) -> None:
    with pytest.raises(ProviderError, match="node pool"):
        await provider.create(machine_for(program, node_pool="none"))
    with pytest.raises(ProviderError, match="option program: expected an absolute path"):
        await provider.create(machine_for(Path("weft")))
    none = NomadSettings(nomad_address="http://127.0.0.1:9", nomad_connect=CONNECT)
    away = NomadProvider(site_with(none, site.logs))
    with pytest.raises(ProviderError, match="Nomad is away"):
        await away.create(wanted())
    assert await provider.list() == []
