"""What the provider asks of a cloud: each call blocks, and says in plain words what went wrong.

Servers leave disks, ports and images of templates behind. Nova makes a server's ports, and disks
that are to end with it, and sometimes loses them. They get the deployment's mark while their
server is there. What a person gave to a server is never marked: a disk that is to outlive it, a
port with a name.
"""

import base64
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from threading import Lock
from typing import Any, Final, NamedTuple

from weft.core.pools.pool import Option
from weft.ports.provider import Leftover, ProviderError, WantedMachine
from weft_openstack.provider.options import (
    READY,
    check_ready,
    image_name,
    is_being_made,
    names_in,
    newest,
    text_of,
)
from weft_openstack.settings import OpenStackSettings

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


try:
    import openstack
    from keystoneauth1 import exceptions as refused
    from openstack import exceptions as failed
except ImportError as error:
    raise ProviderError(
        "the provider openstack needs a library: install weft with its extra, weft[openstack]"
    ) from error

UNLIMITED: Final = -1
DETAIL_CHARS: Final = 300


class Server(NamedTuple):
    """A server of this deployment."""

    server_id: str
    name: str
    status: str
    fault: str
    """Why it has the status ERROR."""


class Cloud:
    """One region of a cloud. Its methods raise `ProviderError`."""

    def __init__(self, settings: OpenStackSettings, region: str) -> None:
        self._settings = settings
        self._region = region
        self._connection: Any = None
        self._imaging = Lock()
        """Held while an image of a template is looked for and made: calls come in threads."""

    def servers(self, tag: str) -> list[Server]:
        """Return the servers with a tag, without those that are being deleted."""
        with self._asked("list servers") as cloud:
            found = list(cloud.compute.servers(details=True, tags=tag))
        return [
            Server(one.id, one.metadata.get("weft_machine", one.name), one.status, _fault(one))
            for one in found
            if one.status not in {"DELETED", "SOFT_DELETED"} and one.task_state != "deleting"
        ]

    def server(self, server_id: str) -> Server | None:
        """Return a server by its id; None: it is gone."""
        with self._asked("look at a server") as cloud:
            try:
                one = cloud.compute.get_server(server_id)
            except failed.NotFoundException:
                return None
        return Server(one.id, one.name, one.status, _fault(one))

    def create(self, machine: WantedMachine, tags: Sequence[str], user_data: str) -> str:
        """Make a server, and return its id; it begins to be built."""
        with self._asked("make a server") as cloud:
            flavour = cloud.compute.find_flavor(machine.flavour.name)
            if flavour is None:
                raise ProviderError(self._none("flavour", machine.flavour.name))
            self._check_quota(cloud, flavour)
            more: dict[str, Any] = {}
            if keypair := text_of(machine.options, "keypair"):
                more["key_name"] = keypair
            if zone := text_of(machine.options, "availability_zone"):
                more["availability_zone"] = zone
            if groups := names_in(machine.options, "security_groups"):
                more["security_groups"] = [{"name": group} for group in groups]
            made = cloud.compute.create_server(
                name=machine.name,
                flavor_id=flavour.id,
                image_id=self._image(cloud, machine.options, tags[0]),
                networks=self._networks(cloud, machine.options),
                tags=list(tags),
                metadata={"weft_machine": machine.name, "weft_pool": machine.pool},
                user_data=base64.b64encode(user_data.encode()).decode(),
                **more,
            )
            return str(made.id)

    def delete(self, server_id: str, tag: str) -> None:
        """Begin to delete a server; one that is gone is no error. What it leaves is marked."""
        with self._asked("delete a server") as cloud:
            with suppress(failed.SDKException, refused.ClientException):
                mark(cloud, tag, [cloud.compute.get_server(server_id)])
            cloud.compute.delete_server(server_id, ignore_missing=True)

    def leftovers(self, tag: str, pools: Sequence[Mapping[str, Option]]) -> list[Leftover]:
        """Return what has the deployment's mark, and belongs to no server and no pool."""
        with self._asked("list what servers left") as cloud:
            return leftovers(cloud, tag, self._region, pools)

    def remove(self, leftover: Leftover) -> None:
        """Remove such a thing."""
        with self._asked(f"remove a {leftover.kind}") as cloud:
            remove(cloud, leftover)

    def check(self) -> str:
        """Return who the credential is of, in words."""
        with self._asked("answer") as cloud:
            limits = cloud.compute.get_limits().absolute
        used, most = limits.total_cores_used, limits.total_cores
        cores = f"{used} cores used" if most == UNLIMITED else f"{used} of {most} cores used"
        return f"{self.where} answers, {cores}"

    def close(self) -> None:
        """Forget the connection."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    @property
    def where(self) -> str:
        """Name the region for people."""
        return f"region {self._region}" if self._region else "the cloud"

    def _none(self, kind: str, name: str) -> str:
        return f"{self.where} has no {kind} {name!r}, or does not show it to this credential"

    def _connect(self) -> Any:  # noqa: ANN401 (the SDK's)
        if self._connection is None:
            file = self._settings.openstack_clouds_file
            # None: the SDK looks at its usual places.
            loader = openstack.config.OpenStackConfig(
                config_files=None if file is None else [str(file)], load_envvars=file is None
            )
            region: dict[str, Any] = {"region_name": self._region} if self._region else {}
            found = loader.get_one(
                cloud=self._settings.openstack_cloud,
                api_timeout=self._settings.openstack_answer_s,
                **region,
            )
            self._connection = openstack.connection.Connection(config=found)
        return self._connection

    @contextmanager
    def _asked(self, what: str) -> Iterator[Any]:
        """Give the connection, and say in words what fails there; never what was sent."""
        try:
            yield self._connect()
        except ProviderError:
            raise
        except failed.ConfigException as error:
            raise ProviderError(f"the credential for the cloud is not complete: {error}") from None
        except (failed.ForbiddenException, refused.Forbidden) as error:
            detail = _detail(error)
            if "uota" in detail:
                raise ProviderError(f"{self.where}: {detail}", is_full=True) from None
            raise ProviderError(f"{self.where} forbids to {what}: {detail}") from None
        except (refused.Unauthorized, refused.MissingRequiredOptions) as error:
            raise ProviderError(f"{self.where} refuses the credential: {_detail(error)}") from None
        except (refused.ConnectionError, refused.DiscoveryFailure) as error:
            raise ProviderError(f"{self.where} cannot be reached: {_detail(error)}") from None
        except (refused.ClientException, failed.SDKException) as error:
            raise ProviderError(f"{self.where} did not {what}: {_detail(error)}") from None

    def _check_quota(self, cloud: Any, flavour: Any) -> None:  # noqa: ANN401 (the SDK's)
        """Ask before, as a refusal may leave parts behind. Raise `ProviderError`."""
        limits = cloud.compute.get_limits().absolute
        for noun, needed, used, most in (
            ("servers", 1, limits.instances_used, limits.instances),
            ("cores", flavour.vcpus, limits.total_cores_used, limits.total_cores),
            ("MiB of memory", flavour.ram, limits.total_ram_used, limits.total_ram),
        ):
            if None not in {used, most} and most != UNLIMITED and used + needed > most:
                raise ProviderError(
                    f"the quota of {self.where} is used up: {used:,} of {most:,} {noun}, "
                    f"and the machine needs {needed:,}",
                    is_full=True,
                )

    def _networks(self, cloud: Any, options: Mapping[str, Any]) -> Any:  # noqa: ANN401 (the SDK's)
        names = names_in(options, "networks")
        if not names:
            return "auto"
        if names == ["none"]:
            return "none"
        return [{"uuid": self._found(cloud.network.find_network, "network", one)} for one in names]

    def _found(self, find: Callable[[str], Any], kind: str, name: str) -> str:
        found = find(name)
        if found is None:
            raise ProviderError(self._none(kind, name))
        return str(found.id)

    def _image(self, cloud: Any, options: Mapping[str, Any], tag: str) -> str:  # noqa: ANN401
        """Return the id of the image: by name, the newest of a prefix, or made from a server."""
        if name := text_of(options, "image"):
            return self._found(cloud.image.find_image, "image", name)
        prefix = text_of(options, "image_prefix")
        if "template" in options:
            return self._image_of(cloud, options, tag)
        ready = cloud.image.images(status=READY)
        found = newest(one for one in ready if one.name.startswith(prefix))
        if found is None:
            raise ProviderError(self._none("image whose name begins with", prefix))
        return found

    def _image_of(self, cloud: Any, options: Mapping[str, Any], tag: str) -> str:  # noqa: ANN401
        """Return the newest image of a template; the first one that asks has it made."""
        template = text_of(options, "template")
        server = self._found(cloud.compute.find_server, "server", template)
        name = image_name(text_of(options, "image_prefix"), server)
        with self._imaging:
            images = list(cloud.image.images(name=name))
            found = newest(images)
            if found is not None:
                return found
            if not any(map(is_being_made, images)):
                check_ready(cloud, server, options)
                cloud.compute.create_server_image(server, name, {MARK: tag, TEMPLATE: server})
        raise ProviderError(
            f"image {name} is being made from server {template}; machines come when it is ready"
        )


def _fault(one: Any) -> str:  # noqa: ANN401 (the SDK's)
    """Return why a server has the status ERROR."""
    if one.status != "ERROR":
        return ""
    message = (one.fault or {}).get("message") or "the cloud does not say why"
    return f"the server is in state ERROR: {message[:DETAIL_CHARS]}"


def _detail(error: Exception) -> str:
    """Return what the cloud said, which names no credential."""
    said = getattr(error, "details", None) or getattr(error, "message", None) or str(error)
    return " ".join(str(said).split())[:DETAIL_CHARS]
