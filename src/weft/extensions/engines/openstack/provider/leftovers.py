"""What servers of this deployment leave behind in a cloud: disks, ports, images of templates.

Nova makes a server's ports, and disks that are to end with it, and sometimes loses them. They get
the deployment's mark while their server is there. What a person gave to a server is never marked:
a disk that is to outlive it, a port with a name.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, Final

from weft.core.pools.pool import Option
from weft.extensions.engines.openstack.provider.options import (
    image_name,
    is_being_made,
    newest,
    text_of,
)
from weft.ports.provider import Leftover

MARK: Final = "weft_deployment"
TEMPLATE: Final = "weft_template"
FREE: Final = frozenset({"available", "error", "error_deleting"})
"""What states of a disk say that no server has it."""
DISKS: Final = "block-storage"
NETWORK: Final = "network"


def mark(cloud: Any, tag: str, servers: Sequence[Any]) -> None:  # noqa: ANN401 (the SDK's)
    """Give the deployment's mark to what ends with these servers."""
    for server in servers:
        if cloud.has_service(NETWORK):
            for port in cloud.network.ports(device_id=server.id):
                if not port.name and tag not in port.tags:
                    port.add_tag(cloud.network, tag)
        for volume in server.attached_volumes or ():
            if volume.delete_on_termination and cloud.has_service(DISKS):
                disk = cloud.block_storage.get_volume(volume.id or volume.volume_id)
                if disk.metadata.get(MARK) != tag:
                    cloud.block_storage.set_volume_metadata(disk, **{MARK: tag})


def leftovers(
    cloud: Any,  # noqa: ANN401 (the SDK's)
    tag: str,
    region: str,
    pools: Sequence[Mapping[str, Option]],
) -> list[Leftover]:
    """Return what has the mark, and belongs to no server and no pool with these options."""
    servers = list(cloud.compute.servers(details=True, tags=tag))
    mark(cloud, tag, servers)
    found: list[tuple[str, Any]] = []
    if cloud.has_service(NETWORK):
        found += (("port", port) for port in _ports(cloud, tag, {server.id for server in servers}))
    if cloud.has_service(DISKS):
        found += (("disk", disk) for disk in _disks(cloud, tag))
    used = {server.image.id for server in servers if server.image}
    found += (("image", image) for image in _images(cloud, tag, pools, used))
    return [
        Leftover(kind=kind, provider_id=one.id, name=one.name or "", region=region)
        for kind, one in found
    ]


def remove(cloud: Any, leftover: Leftover) -> None:  # noqa: ANN401 (the SDK's)
    """Remove a thing; one that is gone is no error."""
    if leftover.kind == "port" and (port := cloud.network.find_port(leftover.provider_id)):
        # Neutron lets projects delete no port of Nova's.
        cloud.network.update_port(port, device_owner="")
        cloud.network.delete_port(port, ignore_missing=True)
    elif leftover.kind == "disk":
        cloud.block_storage.delete_volume(leftover.provider_id, ignore_missing=True)
    elif leftover.kind == "image":
        cloud.image.delete_image(leftover.provider_id, ignore_missing=True)


def _ports(cloud: Any, tag: str, servers: Collection[str]) -> Iterator[Any]:  # noqa: ANN401
    """Yield ports of servers that are gone. One that is given back has no server: a person's."""
    for port in cloud.network.ports(tags=tag):
        is_lost = port.device_id and port.device_id not in servers and not port.name
        if is_lost and cloud.compute.find_server(port.device_id) is None:
            yield port


def _disks(cloud: Any, tag: str) -> Iterator[Any]:  # noqa: ANN401 (the SDK's)
    for volume in cloud.block_storage.volumes(details=True):
        if volume.metadata.get(MARK) == tag and volume.status in FREE and not volume.attachments:
            yield volume


def _images(
    cloud: Any,  # noqa: ANN401 (the SDK's)
    tag: str,
    pools: Sequence[Mapping[str, Option]],
    used: Collection[str],
) -> Iterator[Any]:
    """Yield images of templates that no pool has any more, and those that never became ready."""
    images = list(cloud.image.images())
    made = [image for image in images if _is_made(image, tag)]
    kept = {*used}
    for options in pools if made else ():
        kept |= _of_pool(cloud, images, options)
    yield from (one for one in made if one.id not in kept)


def _is_made(image: Any, tag: str) -> bool:  # noqa: ANN401 (the SDK's)
    """Say whether weft made an image. One that a person takes of a machine inherits the marks of
    the machine's own, but not its name.
    """
    marks = image.properties or {}
    template = marks.get(TEMPLATE)
    if marks.get(MARK) != tag or not template:
        return False
    return str(image.name).endswith(image_name("", template))


def _of_pool(cloud: Any, images: Sequence[Any], options: Mapping[str, Option]) -> set[str]:  # noqa: ANN401
    """Return the images that a pool uses, or may use."""
    if named := text_of(options, "image"):
        return {image.id for image in images if named in {image.id, image.name}}
    prefix, template = text_of(options, "image_prefix"), text_of(options, "template")
    own = [image for image in images if (image.name or "").startswith(prefix)]
    if template:
        server = cloud.compute.find_server(template)
        if server is None:  # nothing would make them again
            return {one.id for one in own}
        own = [one for one in own if one.name == image_name(prefix, server.id)]
    kept = {one.id for one in own if is_being_made(one)}
    return kept | {found for found in [newest(own)] if found}
