"""A pool that grows over hosts with real sshds, runs jobs there and shrinks."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from contexts import fixture_of
from e2e.pool_site import POOL, PoolSite, pool_site
from plugins.ssh_hosts import DIRECTORY, SshdHost, hosts_file, sshd_hosts

pytestmark = [pytest.mark.engine(name="ssh"), pytest.mark.timeout(600)]
hosts = fixture_of(lambda: sshd_hosts(2))


@pytest.fixture
def site(tmp_path: Path, hosts: Sequence[SshdHost]) -> Iterator[PoolSite]:
    settings = {
        "WEFT_SSH_HOSTS_FILE": str(hosts_file(tmp_path / "hosts.toml", hosts)),
        "WEFT_SSH_IDENTITY": str(hosts[0].identity),
        "WEFT_SSH_DIRECTORY": DIRECTORY,
    }
    with pool_site(tmp_path, settings, connect="WEFT_SSH_CONNECT") as weft:
        yield PoolSite(weft, tmp_path)


def test_a_pool_of_hosts_grows_says_why_it_cannot_and_leaves_nothing(
    site: PoolSite, hosts: Sequence[SshdHost]
) -> None:
    """It asks for a machine more than there are hosts; two run all jobs."""
    site.apply(POOL, provider="ssh", max_workers=3)
    job = {"script": "sleep 2", "resources": {"cpu": 1}}
    batch = site.submit(**job, count=20)
    site.until(lambda: b"no host is free" in site.weft.run("pool", "log", "hpc").stdout, "full")
    site.until(lambda: site.told("status", batch)["complete"], "all jobs have run")
    status = site.told("status", batch)
    workers = {
        site.told("status", f"{batch}.j{n}")["attempts"][-1]["worker"] for n in range(1, 21, 4)
    }
    site.until(lambda: not site.machines(), "the machines end")
    site.weft.told("audit")

    assert (status["n_succeeded"], status["n_jobs"]) == (20, 20)
    assert len(workers) == 2
    for host in hosts:
        assert host.shell("find /srv/weft -mindepth 2 ! -name lock") == ""
        assert "weft.worker" not in host.shell("cat /proc/[0-9]*/cmdline | tr '\\0' ' '")
