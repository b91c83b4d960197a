"""A pool that grows by jobs of a real Nomad, runs jobs there and shrinks."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from contexts import fixture_of
from e2e.pool_site import POOL, PoolSite, pool_site
from runners.nomad_cluster import NomadCluster, nomad_cluster

pytestmark = [pytest.mark.engine(name="nomad"), pytest.mark.timeout(600)]
cluster = fixture_of(nomad_cluster)


@pytest.fixture
def site(tmp_path: Path, cluster: NomadCluster) -> Iterator[PoolSite]:
    settings = {"WEFT_NOMAD_ADDRESS": cluster.address, "WEFT_NOMAD_CORE_MHZ": "100"}
    with pool_site(tmp_path, settings, connect="WEFT_NOMAD_CONNECT") as weft:
        yield PoolSite(weft, tmp_path)


def test_a_pool_of_nomad_jobs_runs_jobs_and_leaves_nothing(
    site: PoolSite, cluster: NomadCluster
) -> None:
    site.apply(POOL, provider="nomad", max_workers=2)
    batch = site.submit(command=["sleep", "1"], resources={"cpu": 1}, count=6)
    site.until(lambda: site.told("status", batch)["complete"], "all jobs have run")
    status = site.told("status", batch)
    worker = site.told("status", f"{batch}.j1")["attempts"][-1]["worker"]
    site.until(lambda: not site.machines(), "the machines end")
    site.weft.told("audit")

    assert (status["n_succeeded"], status["n_jobs"]) == (6, 6)
    assert worker.startswith("hpc-")
    assert cluster.ask("GET", "jobs") == []
    assert cluster.ask("GET", "vars") == []
