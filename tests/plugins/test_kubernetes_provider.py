"""The provider `kubernetes` on a real control plane, whose pods run as processes of this host."""

import base64
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import pytest

from contexts import async_fixture_of, fixture_of
from plugins.provider_site import CONNECT, TOKEN, ProgramSuite, cleaned, machine_for, site_with
from runners.kubernetes_cluster import PODS, KubernetesCluster, kubernetes_cluster
from weft.ports.provider import MachineCredential, ProviderError, ProviderSite, WantedMachine
from weft.settings import Settings
from weft_kubernetes.provider import KubernetesProvider, check_cluster
from weft_kubernetes.settings import KubernetesSettings
from weft_testing.provider_suite import until_gone

pytestmark = [pytest.mark.engine, pytest.mark.timeout(300)]
SECRETS = "/api/v1/namespaces/default/secrets"
PROGRAM = """#!/bin/sh
printf '%s\\n' "$@" >"$0.words"; env >"$0.env"; cat "$WEFT_TOKEN_FILE" >"$0.token"
stat -c %a "$WEFT_TOKEN_FILE" >"$0.mode"
trap ': >"$0.term"; exit 0' TERM
: >"$0.ready"
while [ ! -e "$0.end" ]; do sleep 0.1; done
exit 3
"""
cluster = fixture_of(kubernetes_cluster, "module")


@pytest.fixture
def site(tmp_path: Path, cluster: KubernetesCluster) -> ProviderSite:
    own = KubernetesSettings(
        kubernetes_config=cluster.config,
        kubernetes_connect=CONNECT,
        kubernetes_worker_image="any",
        kubernetes_image_s=0,
    )
    return site_with(own, tmp_path)


provider = async_fixture_of(lambda site: cleaned(KubernetesProvider(site)))


def pod_of(cluster: KubernetesCluster, one: WantedMachine) -> Any:  # noqa: ANN401 (a document of theirs)
    (found,) = [
        pod for pod in cluster.pods() if pod["metadata"]["annotations"]["weft/machine"] == one.name
    ]
    return found


class TestKubernetesProvider(ProgramSuite):
    """The suite of the port."""


def until_there(path: Path) -> str:
    """Return what a worker has written, once it has; the test has a limit."""
    while not path.exists():
        pass
    return path.read_text()


async def test_a_pod_starts_a_worker_with_its_token(
    provider: KubernetesProvider, program: Path, cluster: KubernetesCluster
) -> None:
    """The token is in a Secret that goes with the pod, and in nothing that the pod shows."""
    one = machine_for(program, slots=3, node_selector="kubernetes.io/hostname=n0")
    made = await provider.create(one)
    until_there(program.with_name("weft.ready"))
    words = program.with_name("weft.words").read_text().split("\n")
    variables = program.with_name("weft.env").read_text()
    pod = pod_of(cluster, one)
    (secret,) = cluster.ask("GET", SECRETS)["items"]
    found = await provider.describe(one.name)
    await provider.delete(one.name)
    until_there(program.with_name("weft.term"))
    await until_gone(provider, one.name)
    while cluster.ask("GET", SECRETS)["items"]:
        pass

    assert words == ["worker", ""]
    assert program.with_name("weft.token").read_text() == f"{TOKEN}\n"
    assert program.with_name("weft.mode").read_text() == "600\n"
    assert [base64.b64decode(one) for one in secret["data"].values()] == [b"weft_7\n"]
    assert TOKEN not in variables + json.dumps(pod) + repr(one)
    assert f"WEFT_CONNECT={CONNECT}\n" in variables
    assert f"WEFT_WORKER_NAME={one.name}\n" in variables
    assert "WEFT_WORKER_SLOTS=3\n" in variables
    assert found == made
    assert (made.error, made.waits) == ("", "")


async def test_a_pod_that_no_node_takes_says_why(
    provider: KubernetesProvider, program: Path
) -> None:
    """It is there, however long it waits."""
    one = machine_for(program, node_selector="disk=ssd")
    made = await provider.create(one)
    (found,) = await provider.list()

    assert "Unschedulable: 0/1 nodes are available" in found.waits
    assert (found.error, made.waits) == ("", found.waits)


async def test_an_image_that_cannot_be_pulled_is_an_error(
    provider: KubernetesProvider, program: Path
) -> None:
    one = machine_for(program, image="missing/worker:1")
    with pytest.raises(ProviderError, match="ErrImagePull, missing/worker:1"):
        await provider.create(one)
    (found,) = await provider.list()

    assert found.name == one.name
    assert "ErrImagePull" in found.error


async def test_a_worker_that_has_ended_is_an_error_until_it_is_deleted(
    provider: KubernetesProvider, program: Path
) -> None:
    one = machine_for(program)
    await provider.create(one)
    program.with_name("weft.end").touch()
    while not (found := (await provider.list())[0]).error:
        pass
    await provider.delete(one.name)

    assert found.error.startswith("its worker has failed: pod weft-test-")
    assert await provider.list() == []


async def test_a_maker_that_died_before_the_secret_is_gone_on_with(
    provider: KubernetesProvider, program: Path, cluster: KubernetesCluster, site: ProviderSite
) -> None:
    """Its pod waits at a gate; the call that is repeated has another token."""
    one = machine_for(program)
    dies = KubernetesProvider(site)
    client = dies._calls()

    class Dies:
        create, get = client.create, client.get

    dies._client = Dies()  # type: ignore[assignment]  # it has what is called before the death
    with pytest.raises(AttributeError):
        await dies.create(one)
    assert pod_of(cluster, one)["spec"]["schedulingGates"]
    again = msgspec.structs.replace(one, credential=MachineCredential(token="weft_8"))
    await provider.create(again)
    until_there(program.with_name("weft.ready"))

    assert program.with_name("weft.token").read_text() == "weft_8\n"
    assert len(await provider.list()) == 1


async def test_a_quota_that_is_used_up_makes_other_regions_try(
    provider: KubernetesProvider, program: Path, cluster: KubernetesCluster
) -> None:
    quotas = "/api/v1/namespaces/default/resourcequotas"
    quota = {"metadata": {"name": "none"}, "spec": {"hard": {"requests.memory": "1Mi"}}}
    cluster.ask("POST", quotas, {"apiVersion": "v1", "kind": "ResourceQuota", **quota})
    try:
        while "hard" not in cluster.ask("GET", f"{quotas}/none")["status"]:
            pass
        with pytest.raises(ProviderError, match="quota") as raised:
            await provider.create(machine_for(program))
    finally:
        cluster.ask("DELETE", f"{quotas}/none")

    assert raised.value.is_full
    assert await provider.list() == []


async def test_pod_with_our_label_that_has_no_name_of_a_machine_is_left_alone(
    provider: KubernetesProvider, site: ProviderSite, program: Path, cluster: KubernetesCluster
) -> None:
    made = await provider.create(machine_for(program))
    strange = {
        "metadata": {"name": "strange", "labels": {"weft/machines": site.tag}},
        "spec": {"containers": [{"name": "a", "image": "any"}]},
    }
    cluster.ask("POST", PODS, {"apiVersion": "v1", "kind": "Pod", **strange})
    listed = await provider.list()
    cluster.ask("DELETE", f"{PODS}/strange?gracePeriodSeconds=0")

    assert [found.provider_id for found in listed] == [made.provider_id]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"image": " any"}, "must not have leading or trailing whitespace"),
        ({"priority_class": "nowhere"}, "no PriorityClass with name nowhere"),
        ({"node_selector": "disk"}, "expected labels of nodes"),
        ({"program": "weft"}, "expected an absolute path"),
    ],
)
async def test_what_kubernetes_refuses_is_named(
    provider: KubernetesProvider, program: Path, options: dict[str, str], words: str
) -> None:
    with pytest.raises(ProviderError, match=words):
        await provider.create(machine_for(program, **options))


async def test_doctor_hears_from_the_cluster(
    provider: KubernetesProvider, program: Path, site: ProviderSite
) -> None:
    await provider.create(machine_for(program))
    said = await check_cluster(site.section(KubernetesSettings))

    assert said == "namespace default answers, worker pods: 1"


async def test_a_cluster_that_is_away_is_named(
    provider: KubernetesProvider, program: Path, site: ProviderSite, tmp_path: Path
) -> None:
    config = KubernetesSettings(kubernetes_config=tmp_path / "none")
    nowhere = replace(site, section=Settings(plugin_sections=(config,)).section)
    with pytest.raises(ProviderError, match="not a kubeconfig"):
        await KubernetesProvider(nowhere).list()
