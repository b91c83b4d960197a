"""The provider `openstack`: servers of a cloud, which start a worker that reaches the api.

A machine is a server with two tags: one of the deployment, one of the deployment and the machine's
name. Only what has them is ever listed or deleted. Nova filters by tags for everybody.

The credential is read by OpenStack's library from a file or the environment of the driver. Calls
run in threads, and end by themselves when the cloud does not answer.
"""

import asyncio
import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, ClassVar, Final, TypeVar

from weft.core.findings import Finding
from weft.core.pools.pool import Option
from weft.plugins.providers.pool_options import PROGRAM, address_for, raise_first, worker_variables
from weft.ports.provider import FoundMachine, Leftover, ProviderError, ProviderSite, WantedMachine
from weft.settings import Settings
from weft_openstack.provider.options import USER, text_of, wrong_options
from weft_openstack.settings import OpenStackSettings

if TYPE_CHECKING:
    from weft_openstack.provider.cloud import Cloud, Server

Found = TypeVar("Found")
BUILT_S: Final = 10.0
"""A call that makes a server looks for so long whether the cloud gives it up at once."""
LOOK_S: Final = 0.5
THREADS: Final = 8
NO_HOST: Final = "No valid host"


class OpenStackProvider:
    """The port `Provider` on servers of Nova."""

    wants_credentials: ClassVar = True
    wrong_options = staticmethod(wrong_options)

    def __init__(self, site: ProviderSite) -> None:
        self._settings = site.section(OpenStackSettings)
        self._tag = f"weft-{site.tag}"
        self._creating: dict[str, asyncio.Lock] = {}
        self._regions = regions_in(self._settings)
        self._clouds: dict[str, Cloud] = {}
        self._threads = ThreadPoolExecutor(THREADS, "openstack")
        """Of its own: a cloud that does not answer holds up nobody else."""

    async def list(self) -> Sequence[FoundMachine]:
        """Return the servers of all regions with the deployment's tag."""
        found = await asyncio.gather(*(self._servers(one, self._tag) for one in self._regions))
        return [_machine(server) for _, servers in found for server in servers]

    async def describe(self, name: str) -> FoundMachine | None:
        """Return a server by name; None: it is not there, or goes."""
        for _, server in await self._named(name):
            return _machine(server)
        return None

    async def create(self, machine: WantedMachine) -> FoundMachine:
        """Make a server, unless there is one; report what the cloud gives up at once."""
        raise_first(wrong_options(machine.options))
        connect = address_for("machines", "openstack_connect", self._settings.openstack_connect)
        cloud = self._cloud(machine.region or self._regions[0])
        async with self._creating.setdefault(machine.name, asyncio.Lock()):
            try:
                found = await self._named(machine.name)
                if found:
                    server_id = found[0][1].server_id
                else:
                    document = user_data_of(machine, connect)
                    tags = [self._tag, self._tag_of(machine.name)]
                    server_id = await self._called(cloud.create, machine, tags, document)
            finally:
                self._creating.pop(machine.name, None)
        return await self._begun(cloud, machine.name, server_id)

    async def delete(self, name: str) -> None:
        for cloud, server in await self._named(name):
            await self._called(cloud.delete, server.server_id, self._tag)

    async def list_leftovers(self, pools: Sequence[Mapping[str, Option]]) -> Sequence[Leftover]:
        """Return disks, ports and images of the deployment that nothing of it needs."""
        clouds = [self._cloud(region) for region in self._regions]
        found = await asyncio.gather(
            *(self._called(cloud.leftovers, self._tag, pools) for cloud in clouds)
        )
        return [leftover for some in found for leftover in some]

    async def remove_leftover(self, leftover: Leftover) -> None:
        await self._called(self._cloud(leftover.region).remove, leftover)

    async def close(self) -> None:
        clouds = list(self._clouds.values())
        self._clouds.clear()
        for cloud in clouds:
            await self._called(cloud.close)

    async def _called(self, call: Callable[..., Found], *given: object) -> Found:
        return await asyncio.get_running_loop().run_in_executor(self._threads, call, *given)

    async def _begun(self, cloud: "Cloud", name: str, server_id: str) -> FoundMachine:
        """Return a server when it is built, or after a while. Raise `ProviderError`."""
        until = asyncio.get_running_loop().time() + BUILT_S
        while True:
            server = await self._called(cloud.server, server_id)
            if server is None:
                raise ProviderError("the server was deleted while it was being made")
            if server.fault:
                raise ProviderError(server.fault, is_full=NO_HOST in server.fault)
            if server.status != "BUILD" or asyncio.get_running_loop().time() > until:
                return FoundMachine(name=name, provider_id=server_id)
            await asyncio.sleep(LOOK_S)

    async def _named(self, name: str) -> "Sequence[tuple[Cloud, Server]]":
        """Return the servers of a name in all regions."""
        tag = self._tag_of(name)
        found = await asyncio.gather(*(self._servers(region, tag) for region in self._regions))
        return [(cloud, server) for cloud, servers in found for server in servers]

    async def _servers(self, region: str, tag: str) -> "tuple[Cloud, Sequence[Server]]":
        cloud = self._cloud(region)
        return cloud, await self._called(cloud.servers, tag)

    def _tag_of(self, name: str) -> str:
        """Return the tag of one machine; names may have more characters than tags."""
        return f"weft-{hashlib.sha256(f'{self._tag}/{name}'.encode()).hexdigest()[:40]}"

    def _cloud(self, region: str) -> "Cloud":
        """Return a region. The library is loaded when it is first needed."""
        from weft_openstack.provider.cloud import Cloud  # noqa: PLC0415 (half a second)

        if region not in self._regions:
            known = ", ".join(self._regions) or "that of the credential"
            raise ProviderError(
                f"region {region} is not among openstack_regions ({known}), so its machines "
                "would not be found"
            )
        if region not in self._clouds:
            self._clouds[region] = Cloud(self._settings, region)
        return self._clouds[region]


def regions_in(settings: OpenStackSettings) -> Sequence[str]:
    """Return the regions in which machines may be; empty: that of the credential."""
    named = [one.strip() for one in settings.openstack_regions.split(",")]
    return [one for one in named if one] or [""]


def check_regions(settings: OpenStackSettings) -> Sequence[str]:
    """Return what each region says of the credential. Raise `ProviderError`."""
    from weft_openstack.provider.cloud import Cloud  # noqa: PLC0415 (half a second)

    found = []
    for region in regions_in(settings):
        cloud = Cloud(settings, region)
        found.append(cloud.check())
        cloud.close()
    return found


def _machine(server: "Server") -> FoundMachine:
    return FoundMachine(name=server.name, provider_id=server.server_id, error=server.fault)


def check_clouds(settings: Settings) -> Iterator[Finding]:
    """Yield whether those that the settings name answer; nothing if they name none."""
    cloud = settings.section(OpenStackSettings)
    if cloud.openstack_connect is None:
        return
    try:
        yield from (Finding("openstack", "ok", region) for region in check_regions(cloud))
    except ProviderError as error:
        advice = "See docs/guides/openstack.md for the settings and the credential."
        yield Finding("openstack", "wrong", str(error), advice)


FOLDER: Final = "/etc/weft"
TOKEN_FILE: Final = f"{FOLDER}/worker.token"
SETTINGS_FILE: Final = f"{FOLDER}/worker.env"
UNIT: Final = "weft-worker.service"
BYTES_MAX: Final = 65_535 * 3 // 4
"""Nova's limit holds for what base64 makes of it."""


def user_data_of(machine: WantedMachine, connect: str) -> str:
    """Return what cloud-init gets to do on a machine: it starts a worker that reaches the api.
    Raise `ProviderError` if it is too long.

    The token stands in a file that only the worker's account reads, never in an argument.
    cloud-init keeps what it got, and the cloud tells it to whoever asks on the machine, so the
    token is for this machine's name and pool alone, and ends with the machine.
    """
    user = text_of(machine.options, "user", USER)
    command = [
        text_of(machine.options, "program", PROGRAM),
        "worker",
        "--connect",
        connect,
        "--token-file",
        TOKEN_FILE,
    ]
    token = "" if machine.credential is None else machine.credential.token
    settings = "".join(
        f"{name}={_quoted(value)}\n"
        for name, value in sorted(worker_variables(machine, home="/var/lib/weft").items())
    )
    document = {
        "users": ["default", {"name": user, "system": True, "homedir": "/var/lib/weft"}],
        "write_files": [
            _file(TOKEN_FILE, f"{token}\n", "0600", f"{user}:{user}"),
            _file(SETTINGS_FILE, settings, "0644", "root:root"),
            _file(f"/etc/systemd/system/{UNIT}", _unit(user, command), "0644", "root:root"),
        ],
        "runcmd": [["systemctl", "enable", "--now", UNIT]],
    }
    # cloud-init reads YAML, of which JSON is a part.
    found = f"#cloud-config\n{json.dumps(document, indent=1)}\n"
    if len(found.encode()) > BYTES_MAX:
        raise ProviderError("labels and options of the machine are too long for its user data")
    return found


def _file(path: str, content: str, permissions: str, owner: str) -> Mapping[str, Any]:
    # Deferred: the account is made first.
    return {
        "path": path,
        "content": content,
        "permissions": permissions,
        "owner": owner,
        "defer": True,
    }


def _unit(user: str, command: list[str]) -> str:
    return (
        "[Unit]\nDescription=weft worker\nWants=network-online.target\n"
        "After=network-online.target\n\n"
        f"[Service]\nUser={user}\nStateDirectory=weft\nEnvironmentFile={SETTINGS_FILE}\n"
        f"ExecStart={' '.join(map(_in_unit, command))}\nRestart=on-failure\nRestartSec=5\n\n"
        "[Install]\nWantedBy=multi-user.target\n"
    )


def _in_unit(word: str) -> str:
    """Quote a word of a command, in which % and $ mean something, too."""
    return _quoted(word).replace("%", "%%").replace("$", "$$")


def _quoted(text: str) -> str:
    """Quote a text for systemd."""
    if any(ord(one) < ord(" ") for one in text):
        raise ProviderError("labels and options of the machine hold line breaks")
    quoted = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{quoted}"'
