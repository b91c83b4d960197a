"""A pool that grows by worker pods on a real control plane, runs jobs there and shrinks."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from e2e.pool_site import PoolSite, pool_site
from runners.kubernetes_cluster import kubernetes_cluster

pytestmark = [pytest.mark.engine, pytest.mark.timeout(900)]
NODE = "/api/v1/nodes/n0"
POOL = """
[[pool]]
name = "hpc"
provider = "kubernetes"
max_workers = 3
idle_s = 2
stale_s = 120
[pool.options]
program = "{program}"
image = "{image}"
[[pool.flavours]]
name = "worker"
cpu = 1
memory = "512Mi"
"""


@pytest.fixture
def site(tmp_path: Path) -> Iterator[PoolSite]:
    with kubernetes_cluster() as cluster:
        settings = {
            "WEFT_KUBERNETES_CONFIG": str(cluster.config),
            "WEFT_KUBERNETES_IMAGE_S": "0",
            "WEFT_PROVIDER_LIST_S": "5",
        }
        with pool_site(tmp_path, settings, connect="WEFT_KUBERNETES_CONNECT") as weft:
            yield PoolSite(weft, tmp_path, cluster)


def test_a_pool_of_pods_waits_grows_runs_and_shrinks(site: PoolSite) -> None:
    site.apply(POOL, image="missing/worker:1")
    job = {"script": "echo $WEFT_JOB", "resources": {"cpu": "250m"}}
    batch = site.submit(**job, count=100)
    site.until(
        lambda: any("ErrImagePull" in one["reason"] for one in site.told("pool", "log", "hpc")),
        "an image that cannot be pulled is told",
    )
    site.cluster.ask("PATCH", NODE, {"spec": {"unschedulable": True}})
    site.apply(POOL, image="any")
    site.until(
        lambda: any("Unschedulable" in (one["waits"] or "") for one in site.machines()),
        "pods wait",
    )
    assert "Unschedulable" in site.weft.run("pool", "show", "hpc").stdout.decode()
    site.cluster.ask("PATCH", NODE, {"spec": {"unschedulable": None}})
    site.until(lambda: site.told("status", batch)["complete"], "all jobs have run")
    status = site.told("status", batch)
    assert (status["n_succeeded"], status["n_jobs"]) == (100, 100)
    assert site.told("status", f"{batch}.j100")["attempts"][-1]["worker"].startswith("hpc-")
    site.until(lambda: not site.machines(), "the pods go")
    site.until(lambda: not site.cluster.pods(), "Kubernetes has removed them")
    site.weft.told("audit")
