"""The provider `slurm` on a real Slurm."""

from pathlib import Path

import msgspec
import pytest

from contexts import async_fixture_of, fixture_of
from plugins.provider_site import CONNECT, TOKEN, ProgramSuite, cleaned, machine_for, site_with
from runners.slurm_cluster import SlurmCluster, slurm_cluster
from weft.ports.provider import ProviderError, ProviderSite, WantedMachine
from weft_slurm.provider import SlurmProvider
from weft_slurm.settings import SlurmSettings
from weft_testing.provider_suite import until_gone, wanted

pytestmark = [pytest.mark.engine(name="slurm"), pytest.mark.timeout(300)]
PROGRAM = """#!/bin/sh
printf '%s\\n' "$@" >"$0.words"; env >"$0.env"; cat "$5" >"$0.token"
trap ': >"$0.term"; exit 0' TERM
: >"$0.ready"
while :; do sleep 0.1; done
"""
cluster = fixture_of(slurm_cluster, "module")


@pytest.fixture
def site(tmp_path: Path, cluster: SlurmCluster) -> ProviderSite:
    own = SlurmSettings(
        slurm_directory=tmp_path / "shared", slurm_conf=cluster.conf, slurm_connect=CONNECT
    )
    return site_with(own, tmp_path)


provider = async_fixture_of(lambda site: cleaned(SlurmProvider(site)))


def machine(program: Path, **options: str | int) -> WantedMachine:
    one = machine_for(program, **options)
    flavour = msgspec.structs.replace(one.flavour, walltime_s=240)
    return msgspec.structs.replace(one, flavour=flavour)


class TestSlurmProvider(ProgramSuite):
    """The suite of the port."""

    def wanted(self) -> WantedMachine:
        return machine(Path(str(self.options["program"])))


async def until_there(path: Path, cluster: SlurmCluster) -> str:
    """Return what a pilot has written, once it has."""
    while not path.exists():
        assert cluster.run("squeue", "-h"), f"the pilot ended without {path.name}"
    return path.read_text()


async def test_a_pilot_starts_a_worker_with_its_token(
    provider: SlurmProvider, program: Path, cluster: SlurmCluster, tmp_path: Path
) -> None:
    """The token is in neither arguments, nor environment, nor what Slurm keeps; nor does it stay
    where jobs of other pilots find it.
    """
    one = machine(program, slots=3)
    made = await provider.create(one)
    await until_there(program.with_name("weft.ready"), cluster)
    words = program.with_name("weft.words").read_text().split("\n")
    variables = program.with_name("weft.env").read_text()
    kept = cluster.run("scontrol", "show", "job", made.provider_id)
    script = cluster.run("scontrol", "write", "batch_script", made.provider_id, "-")
    found = await provider.describe(one.name)

    assert words[:4] == ["worker", "--connect", CONNECT, "--token-file"]
    assert program.with_name("weft.token").read_text() == f"{TOKEN}\n"
    assert [*tmp_path.rglob("token")] == []
    assert TOKEN not in variables + kept + script + repr(one)
    assert f"WEFT_WORKER_NAME={one.name}\n" in variables
    assert "WEFT_WORKER_WALLTIME_S=240\n" in variables
    assert "WEFT_WORKER_SLOTS=3\n" in variables
    assert "TimeLimit=00:04:00" in kept
    assert found == msgspec.structs.replace(made, waits="")


async def test_a_pilot_that_nears_its_end_ends_its_worker_in_order(
    provider: SlurmProvider, program: Path, cluster: SlurmCluster
) -> None:
    one = machine(program)
    made = await provider.create(one)
    await until_there(program.with_name("weft.ready"), cluster)
    cluster.run("scancel", "--batch", "--signal=TERM", made.provider_id)  # as --signal does
    await until_there(program.with_name("weft.term"), cluster)
    await until_gone(provider, one.name)


async def test_a_pilot_that_waits_says_why(
    provider: SlurmProvider, program: Path, cluster: SlurmCluster
) -> None:
    """It is there, however long it waits, and runs once the node is free."""
    cluster.run("scontrol", "update", "PartitionName=all", "State=DOWN")
    try:
        one = machine(program)
        made = await provider.create(one)
        while "PartitionDown" not in (found := await provider.list())[0].waits:
            assert len(found) == 1
    finally:
        cluster.run("scontrol", "update", "PartitionName=all", "State=UP")
    await until_there(program.with_name("weft.ready"), cluster)
    (again,) = await provider.list()

    assert found[0].waits == f"Slurm job {made.provider_id}: PartitionDown"
    assert again.waits == ""


async def test_a_pilot_that_was_submitted_twice_begins_once(
    provider: SlurmProvider, program: Path, cluster: SlurmCluster, site: ProviderSite
) -> None:
    one = machine(program)
    made = await provider.create(one)
    folder = next((site.logs / "shared").glob("pilots-*"))
    name = f"weft-{site.tag}-{one.name}"
    again = cluster.run(
        "sbatch",
        "--parsable",
        f"--job-name={name}",
        "--output=/dev/null",
        f"{folder}/{one.name}/pilot",
    )
    while len(await provider.list()) > 1:
        pass
    (left,) = await provider.list()

    assert left.provider_id in {made.provider_id, again.strip()}
    await provider.delete(one.name)
    await until_gone(provider, one.name)
    assert not (folder / one.name).exists()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"partition": "nowhere"}, "invalid partition"),
        ({"constraint": "moon"}, "Invalid feature"),
        ({"options": "--time=9"}, "not the pool's to say"),
        ({"submissions_per_s": 0}, "from 0.1 to"),
    ],
)
async def test_what_slurm_refuses_is_named(
    provider: SlurmProvider, program: Path, options: dict[str, str], words: str
) -> None:
    with pytest.raises(ProviderError, match=words):
        await provider.create(machine(program, **options))
    assert await provider.list() == []


async def test_a_flavour_says_when_its_machines_end(
    provider: SlurmProvider, program: Path
) -> None:
    with pytest.raises(ProviderError, match="has no walltime_s"):
        await provider.create(msgspec.structs.replace(machine(program), flavour=wanted().flavour))


async def test_slurm_that_is_away_is_named(
    provider: SlurmProvider, program: Path, cluster: SlurmCluster
) -> None:
    """The name is looked for again, so the next call makes one."""
    async with cluster.controller_down():
        with pytest.raises(ProviderError, match="Slurm is away"):
            await provider.create(machine(program))
