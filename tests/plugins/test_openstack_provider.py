"""The provider `openstack` on a real OpenStack."""

import asyncio
import base64
import json
from dataclasses import replace
from pathlib import Path
from typing import Any
from uuid import uuid4

import msgspec
import pytest

from contexts import async_fixture_of, fixture_of
from plugins.openstack_cloud import OpenStackCloud, openstack_cloud
from plugins.provider_site import CONNECT, DeploymentSuite, cleaned, site_with
from weft.ports.provider import MachineCredential, ProviderError, ProviderSite, WantedMachine
from weft_openstack.provider import OpenStackProvider
from weft_openstack.settings import OpenStackSettings
from weft_testing.provider_suite import until_gone, wanted

pytestmark = [
    pytest.mark.engine(name="openstack"),
    pytest.mark.timeout(300),
    # The SDK warns of itself.
    pytest.mark.filterwarnings("ignore::PendingDeprecationWarning"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
]

OPTIONS = {"image": "test", "networks": "none"}
cloud = fixture_of(openstack_cloud, "module")


def site_of(tmp_path: Path, cloud: OpenStackCloud, **more: Any) -> ProviderSite:  # noqa: ANN401
    given = {
        "openstack_clouds_file": cloud.clouds_file,
        "openstack_cloud": "demo",
        "openstack_connect": CONNECT,
        **more,
    }
    return site_with(OpenStackSettings(**given), tmp_path)


@pytest.fixture
def site(tmp_path: Path, cloud: OpenStackCloud) -> ProviderSite:
    return site_of(tmp_path, cloud)


provider = async_fixture_of(lambda site: cleaned(OpenStackProvider(site)))


class TestOpenStackProvider(DeploymentSuite):
    """The suite of the port."""

    options = OPTIONS


def machine(**options: str) -> WantedMachine:
    return msgspec.structs.replace(wanted(), options={**OPTIONS, **options})


async def why_not(provider: OpenStackProvider, one: WantedMachine) -> ProviderError:
    with pytest.raises(ProviderError) as refused:
        await provider.create(one)
    assert await provider.describe(one.name) is None
    return refused.value


async def test_a_machine_knows_how_to_start_its_worker(
    provider: OpenStackProvider, cloud: OpenStackCloud
) -> None:
    one = msgspec.structs.replace(machine(), credential=MachineCredential(token="weft_7"))
    made = await provider.create(one)
    server = await asyncio.to_thread(cloud.connect().compute.get_server, made.provider_id)
    text = base64.b64decode(server.user_data).decode()
    head, _, document = text.partition("\n")
    files = {file["path"]: file for file in json.loads(document)["write_files"]}
    token = files.pop("/etc/weft/worker.token")

    assert head == "#cloud-config"
    assert (token["content"], token["permissions"]) == ("weft_7\n", "0600")
    assert "weft_7" not in str(files) + repr(one)
    assert 'WEFT_WORKER_LABELS="rack=12"' in files["/etc/weft/worker.env"]["content"]
    assert (
        f'ExecStart="/usr/local/bin/weft" "worker" "--connect" "{CONNECT}" '
        '"--token-file" "/etc/weft/worker.token"'
    ) in files["/etc/systemd/system/weft-worker.service"]["content"]
    assert server.metadata == {"weft_machine": one.name, "weft_pool": "default"}


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"image": "nowhere"}, "no image 'nowhere'"),
        ({"networks": "nowhere"}, "no network 'nowhere'"),
        ({"keypair": "nokey"}, "Invalid key_name provided"),
        ({"security_groups": "nogroup"}, "Unable to find security_group"),
        ({"availability_zone": "moon"}, "availability zone is not available"),
    ],
)
async def test_what_the_cloud_does_not_have_is_named(
    provider: OpenStackProvider, options: dict[str, str], words: str
) -> None:
    assert words in str(await why_not(provider, machine(**options)))


async def test_an_unknown_flavour_is_named(provider: OpenStackProvider) -> None:
    one = machine()
    unknown = msgspec.structs.replace(one.flavour, name="giant")
    error = await why_not(provider, msgspec.structs.replace(one, flavour=unknown))
    assert "no flavour 'giant'" in str(error)


async def test_a_quota_is_asked_before(provider: OpenStackProvider, cloud: OpenStackCloud) -> None:
    """Five of 4 cores fill the 20 that the project may have."""
    large = msgspec.structs.replace(wanted().flavour, name="large")
    for _ in range(5):
        await provider.create(msgspec.structs.replace(machine(), flavour=large))
    error = await why_not(provider, msgspec.structs.replace(machine(), flavour=large))
    assert error.is_full
    assert "20 of 20 cores, and the machine needs 4" in str(error)


async def test_a_server_in_state_error_says_why(
    provider: OpenStackProvider, cloud: OpenStackCloud
) -> None:
    one = machine()
    made = await provider.create(one)
    admin = cloud.connect().compute
    await asyncio.to_thread(admin.reset_server_state, made.provider_id, "error")
    (found,) = await provider.list()
    with pytest.raises(ProviderError, match="in state ERROR"):
        await provider.create(one)
    assert "in state ERROR" in found.error


async def test_images_come_by_prefix_or_from_a_template(
    provider: OpenStackProvider, cloud: OpenStackCloud, site: ProviderSite
) -> None:
    template = await provider.create(machine())
    prefix = f"w-{uuid4().hex[:8]}-"
    one = msgspec.structs.replace(
        machine(), options={"networks": "none", "image_prefix": prefix, "template": template.name}
    )
    admin, unready = cloud.connect(), []
    for more in ({}, {"ready_within_s": 0.001}):
        options = {**one.options, "ready_when": "init_finished", **more}
        unready.append(await why_not(provider, msgspec.structs.replace(one, options=options)))
    no_images = list(admin.image.images(name=f"{prefix}{template.provider_id[:8]}"))
    one = msgspec.structs.replace(one, options={**one.options, "ready_when": "LAST LINE"})
    first = await why_not(provider, one)
    again = await why_not(provider, one)
    # This Nova takes no picture of the disk: it is brought here.
    (image,) = admin.image.images(name=f"{prefix}{template.provider_id[:8]}")
    admin.image.update_image(image, disk_format="raw", container_format="bare")
    image.data = b"-"
    image.upload(admin.image)
    made = await provider.create(one)
    newest = msgspec.structs.replace(
        machine(), options={"networks": "none", "image_prefix": prefix}
    )
    other = await provider.create(newest)
    used = [admin.compute.get_server(server.provider_id).image.id for server in (made, other)]
    pool = {"image_prefix": prefix, "template": template.name}
    for_others = await OpenStackProvider(replace(site, tag="other")).list_leftovers([])
    served = await provider.list_leftovers([])
    for server in (made, other):
        await provider.delete(server.name)
        await until_gone(provider, server.name)
    needed = [await provider.list_leftovers([one]) for one in (pool, newest.options)]
    another = await provider.create(machine())
    (changed,) = await provider.list_leftovers([{**pool, "template": another.name}])
    await provider.delete(template.name)
    await until_gone(provider, template.name)
    without = await provider.list_leftovers([pool])
    await provider.remove_leftover(changed)

    assert for_others == served == without == []
    assert needed == [[], []]
    assert (changed.kind, changed.provider_id) == ("image", image.id)
    assert admin.image.find_image(image.id) is None
    assert "does not say 'init_finished' yet" in str(unready[0])
    assert "is frozen" in str(unready[1])
    assert no_images == []
    assert "is being made" in str(first)
    assert "is being made" in str(again)
    assert used == [image.id] * 2


async def test_ports_that_servers_leave_are_found(
    provider: OpenStackProvider, cloud: OpenStackCloud, site: ProviderSite
) -> None:
    """A port of a server that is there is marked, and one that was marked is left over when its
    server is gone; neither what others have, nor what people gave to a server.
    """
    demo = cloud.connect("demo")
    made = await provider.create(machine())
    network = demo.network.create_network(name="left")
    tag = f"weft-{site.tag}"

    def port(server: str, *tags: str, **more: str) -> str:
        one = demo.network.create_port(
            network_id=network.id, device_id=server, device_owner="compute:nova", **more
        )
        if tags:
            one.set_tags(demo.network, [*tags])
        return str(one.id)

    gone = str(uuid4())
    own, named = port(made.provider_id), port(made.provider_id, name="of-a-person")
    lost = port(gone, tag)
    others = {port(gone), port(gone, "weft-other"), port("", tag), port(gone, tag, name="hers")}
    try:
        (left,) = await provider.list_leftovers([])
        assert (left.kind, left.provider_id) == ("port", lost)
        assert demo.network.get_port(own).tags == [tag]
        assert demo.network.get_port(named).tags == []
        await provider.remove_leftover(left)
        await provider.remove_leftover(left)
        assert await provider.list_leftovers([]) == []
        assert demo.network.find_port(lost) is None
        left_alone = {one.id for one in demo.network.ports(network_id=network.id)}
        assert left_alone == {own, named, *others}
    finally:
        for one in demo.network.ports(network_id=network.id):
            demo.network.update_port(one, device_owner="")
            demo.network.delete_port(one)
        demo.network.delete_network(network)


async def test_a_wrong_credential_and_a_silent_cloud_are_told_apart(
    tmp_path: Path, cloud: OpenStackCloud
) -> None:
    text = cloud.clouds_file.read_text()
    wrong = tmp_path / "wrong.yaml"
    wrong.write_text(text.replace("password: demo", "password: hidden-word"))
    silent = tmp_path / "silent.yaml"
    silent.write_text(text.replace(cloud.url, "http://127.0.0.1:9/v3"))
    said = {}
    for file in (wrong, silent, tmp_path / "nowhere.yaml"):
        provider = OpenStackProvider(site_of(tmp_path, cloud, openstack_clouds_file=file))
        with pytest.raises(ProviderError) as refused:
            await provider.list()
        said[file.name] = str(refused.value)
        await provider.close()

    assert "refuses the credential" in said["wrong.yaml"]
    assert "cannot be reached" in said["silent.yaml"]
    assert "not complete" in said["nowhere.yaml"]
    assert "hidden-word" not in str(said)


async def test_a_region_that_is_not_named_gets_no_machine(provider: OpenStackProvider) -> None:
    with pytest.raises(ProviderError, match="is not among openstack_regions"):
        await provider.create(msgspec.structs.replace(machine(), region="moon"))
