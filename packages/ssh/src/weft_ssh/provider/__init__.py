"""The provider `ssh`: hosts that exist, on each of which one machine's worker may run.

The hosts stand in a file. What they are asked is run there by their own Python
(`host_program.py`): a machine is a directory of the account, with the worker's process in it. Only
what stands below the tag of the deployment is ever listed or ended. A host that does not answer
holds nobody up; what it still has when it does is found by the next list.

The options that a pool has for the provider `ssh`, and the file that lists hosts: who they are,
and by which key each is known.

[[host]]
name = "node1"
address = "weft@node1.example.org:22"
key = "ssh-ed25519 AAAA…"
region = "rack4"
"""

import asyncio
import json
from collections.abc import Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from importlib.resources import files
from pathlib import Path
from time import monotonic
from typing import Annotated, Any, ClassVar, Final
from weakref import WeakValueDictionary

import msgspec

from weft.core.bounded import read_json, read_toml
from weft.core.errors import WeftError
from weft.core.findings import Finding
from weft.core.pools.pool import Option
from weft.plugins.providers.pool_options import (
    PROGRAM,
    address_for,
    raise_first,
    worker_variables,
    wrong_usual,
)
from weft.plugins.runners.remote.ssh import Login, SshHost
from weft.ports.provider import FoundMachine, ProviderError, ProviderSite, WantedMachine
from weft.settings import Settings, variable_of
from weft_ssh.settings import SshSettings

TEXTS: Final = frozenset({"hosts", "program"})


def wrong_options(options: Mapping[str, Option]) -> Mapping[str, str]:
    """Return what is wrong with the options of a pool, as far as it shows without the hosts."""
    wrong = wrong_usual("ssh", options, TEXTS, "on the hosts")
    if "hosts" in options and "hosts" not in wrong and not _patterns(options):
        wrong["hosts"] = "expected names of hosts or patterns of them, as rack4-*,node7"
    return wrong


def may_use(options: Mapping[str, Option], host: str) -> bool:
    """Say whether a pool may use a host."""
    return any(fnmatchcase(host, pattern) for pattern in _patterns(options))


def _patterns(options: Mapping[str, Option]) -> list[str]:
    return [one.strip() for one in str(options.get("hosts", "*")).split(",") if one.strip()]


_Word = Annotated[str, msgspec.Meta(min_length=1, max_length=256, pattern=r"^[^\s,/]+$")]


class Host(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A host of the file."""

    name: _Word
    address: Annotated[str, msgspec.Meta(min_length=1, max_length=512)]
    key: Annotated[str, msgspec.Meta(min_length=1, max_length=4096)]
    region: _Word | None = None


class _File(msgspec.Struct, forbid_unknown_fields=True):
    host: list[Host]


def hosts_in(path: Path | None) -> Sequence[Host]:
    """Return the hosts of a file. Raise `ProviderError`."""
    if path is None:
        raise ProviderError("the setting ssh_hosts_file is missing: it names the hosts")
    try:
        hosts = msgspec.convert(read_toml(path.read_text()), _File).host
    except OSError as error:
        raise ProviderError(f"ssh_hosts_file {path}: {error.strerror}") from None
    except (ValueError, msgspec.ValidationError) as error:
        raise ProviderError(f"ssh_hosts_file {path}: {error}") from None
    names = [host.name for host in hosts]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise ProviderError(f"ssh_hosts_file {path}: host {twice[0]} is there twice")
    return hosts


WATCH_S: Final = 3.0
"""A call that makes a machine looks for so long whether its worker ends at once."""
END_S: Final = 45.0
"""So long may a host take to end a worker: it is asked first, then killed."""
_AT_ONCE: Final = 4
"""Calls of one host; its server allows ten on a connection."""
_CHECK: Final = "import sys; sys.exit(sys.version_info < (3, 9))"
_WHY_MAX: Final = 5
"""Hosts of which it is said why they have no room."""


class SshProvider:
    """The port `Provider` on hosts that exist."""

    wants_credentials: ClassVar = True
    wrong_options = staticmethod(wrong_options)

    def __init__(self, site: ProviderSite) -> None:
        self._settings = site.section(SshSettings)
        self._tag = site.tag
        self._known: dict[str, _Known] = {}
        self._names: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        """A machine is looked for before it is made: one call at a time for each name."""

    async def list(self) -> Sequence[FoundMachine]:
        """Return the machines of all hosts that answer; an ended one until it is deleted."""
        await self._look()
        return [machine for known in self._known.values() for machine in known.machines]

    async def describe(self, name: str) -> FoundMachine | None:
        return next((machine for machine in await self.list() if machine.name == name), None)

    async def create(self, machine: WantedMachine) -> FoundMachine:
        """Begin a worker on a free host, unless one has it; one that ends at once is an error."""
        raise_first(wrong_options(machine.options))
        address_for("hosts", "ssh_connect", self._settings.ssh_connect)
        async with self._names.setdefault(machine.name, asyncio.Lock()):
            await self._look()
            for known in self._known.values():
                if known.has(machine.name):
                    return self._found(known, await self._begin(known, machine))
            return await self._create(machine)

    async def delete(self, name: str) -> None:
        """End the worker of a machine and remove its directory, on each host that has it. On one
        that does not answer its token ends, and the next list finds it.
        """
        await self._look()
        for known in [one for one in self._known.values() if one.has(name)]:
            asked = {"do": "end", "name": name}
            told = await self._ask(known, asked, longer_s=END_S)
            if "error" in told:
                raise ProviderError(f"host {known.host.name}: {told['error']}")

    async def close(self) -> None:
        known, self._known = self._known, {}
        for one in known.values():
            one.login.close()

    async def _create(self, machine: WantedMachine) -> FoundMachine:
        """Begin a machine on one of the hosts that the pool may use. The one that was chosen last
        comes last: a host on which workers do not live is not chosen again and again.
        """
        usable = [one for one in self._known.values() if _may_run(one.host, machine)]
        if not usable:
            raise ProviderError("no host has such a name and region")
        why: dict[str, str] = {}
        is_full = False
        for known in sorted(usable, key=lambda one: one.chosen_at):
            name = known.host.name
            if known.is_chosen or known.machines:
                is_full, why[name] = True, "it has a machine"
            elif known.away:
                why[name] = known.away
            else:
                known.is_chosen, known.chosen_at = True, monotonic()
                try:
                    told = await self._begin(known, machine)
                finally:
                    known.is_chosen = False
                if "no" not in told:
                    return self._found(known, told)
                is_full, why[name] = is_full or "full" in told, told["no"]
        said = [f"{name}: {text}" for name, text in list(why.items())[:_WHY_MAX]]
        more = [f"and {len(why) - _WHY_MAX} more"] if len(why) > _WHY_MAX else []
        raise ProviderError(f"no host is free: {'; '.join([*said, *more])}", is_full=is_full)

    async def _begin(self, known: "_Known", machine: WantedMachine) -> dict[str, Any]:
        own = {} if machine.flavour.gpus else {"worker_gpus": "none"}
        program = str(machine.options.get("program", PROGRAM))
        return await self._ask(
            known,
            {
                "do": "begin",
                "name": machine.name,
                "command": [program, "worker", "--connect", self._settings.ssh_connect],
                "variables": worker_variables(machine, **own),
                "home": variable_of("home"),
                "token": "" if machine.credential is None else machine.credential.token,
                "cpu_m": machine.flavour.cpu_m,
                "memory_mib": machine.flavour.memory_mib,
                "watch_s": WATCH_S,
            },
            longer_s=WATCH_S,
        )

    @staticmethod
    def _found(known: "_Known", told: dict[str, Any]) -> FoundMachine:
        machine = known.machine(told)
        if machine.error:
            raise ProviderError(machine.error)
        return machine

    async def _look(self) -> None:
        """Ask all hosts which machines they have, those that are new in the file, too."""
        hosts = {one.name: one for one in hosts_in(self._settings.ssh_hosts_file)}
        for name, known in list(self._known.items()):
            if hosts.get(name) != known.host:
                known.login.close()
                del self._known[name]
        for name, host in hosts.items():
            if name not in self._known:
                self._known[name] = _Known(host, login_of(host, self._settings))
        await asyncio.gather(*map(self._look_at, self._known.values()))

    async def _look_at(self, known: "_Known") -> None:
        try:
            told = await self._ask(known, {"do": "list"})
        except ProviderError as error:
            known.away, known.machines = str(error), []
        else:
            known.away, known.machines = "", [known.machine(one) for one in told["machines"]]

    async def _ask(
        self, known: "_Known", asked: dict[str, Any], *, longer_s: float = 0.0
    ) -> dict[str, Any]:
        """Return what a host answers. It is asked by standard input: arguments are seen by all."""
        settings = self._settings
        said = json.dumps({**asked, "tag": self._tag, "directory": settings.ssh_directory})
        source = files(__package__).joinpath("host_program.py").read_text()
        words = [settings.ssh_python, "-I", "-c", source]
        try:
            async with known.calls:
                code, out, wrong = await known.login.run(words, said, longer_s=longer_s)
        except WeftError as error:
            detail = f": {error.detail}" if error.detail else ""
            raise ProviderError(f"{error}{detail}") from None
        last = (wrong.strip().splitlines() or ["it says nothing"])[-1]
        if code:
            raise ProviderError(f"{known.title} cannot do this: {last[:300]}")
        try:
            told: dict[str, Any] = read_json(out)
        except ValueError:
            raise ProviderError(f"{known.title} sent no JSON: {out[:200]!r}") from None
        return told


class _Known:
    """A host that was asked, or will be."""

    def __init__(self, host: Host, login: Login) -> None:
        self.host, self.login = host, login
        self.title = f"host {host.name}"
        self.calls = asyncio.Semaphore(_AT_ONCE)
        self.machines: Sequence[FoundMachine] = ()
        self.away = ""
        """Why it has not answered the last look."""
        self.is_chosen = False
        """A machine is being begun there."""
        self.chosen_at = 0.0

    def has(self, name: str) -> bool:
        """Say whether it has a machine."""
        return any(machine.name == name for machine in self.machines)

    def machine(self, told: dict[str, str]) -> FoundMachine:
        """Return a machine of which it tells."""
        error = told["error"] and f"{self.title}: {told['error']}"
        return FoundMachine(
            name=told["name"], provider_id=f"{self.host.name}:{told['id']}", error=error
        )


def login_of(host: Host, settings: SshSettings) -> Login:
    """Return the way to a host. Raise `ProviderError`."""
    if settings.ssh_identity is None:
        raise ProviderError("the setting ssh_identity is missing: it names the key that logs in")
    try:
        return Login(
            SshHost(
                title=f"host {host.name}",
                address=host.address,
                key=host.key,
                identity=settings.ssh_identity,
                answer_s=settings.ssh_answer_s,
                named_in=(f"the address of host {host.name}", f"the key of host {host.name}"),
                command_hint="Set `ssh_python`.",
            )
        )
    except WeftError as error:
        raise ProviderError(f"{error}: {error.hint}") from None


async def check_hosts(settings: SshSettings) -> tuple[int, dict[str, str]]:
    """Return how many hosts answer, and why each other does not. Raise `ProviderError`."""
    logins = {host.name: login_of(host, settings) for host in hosts_in(settings.ssh_hosts_file)}

    async def why(login: Login) -> str:
        try:
            code, _, said = await login.run([settings.ssh_python, "-I", "-c", _CHECK])
        except WeftError as error:
            return error.detail or str(error)
        finally:
            login.close()
        return f"{settings.ssh_python} is none of 3.9 or newer: {said.strip()}" if code else ""

    answers = await asyncio.gather(*map(why, logins.values()))
    wrong = {name: text for name, text in zip(logins, answers, strict=True) if text}
    return len(logins) - len(wrong), wrong


def _may_run(host: Host, machine: WantedMachine) -> bool:
    return may_use(machine.options, host.name) and machine.region in {"", host.region}


def check_known_hosts(settings: Settings) -> Iterator[Finding]:
    """Yield whether those that the settings name answer; nothing if they name none."""
    ssh = settings.section(SshSettings)
    if ssh.ssh_connect is None:
        return
    advice = "See docs/guides/many-machines.md#a-list-of-hosts for the settings and the file."
    try:
        n_answer, wrong = asyncio.run(check_hosts(ssh))
    except ProviderError as error:
        yield Finding("hosts", "wrong", str(error), advice)
        return
    yield Finding("hosts", "ok" if n_answer else "wrong", f"{n_answer} hosts answer by ssh")
    for name, why in wrong.items():
        yield Finding("hosts", "warning", f"host {name} does not answer: {why}", advice)
