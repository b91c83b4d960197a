"""The provider `ssh` on hosts with real sshds, whose processes and disks are their own."""

import asyncio
import json
import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import asyncssh
import msgspec
import pytest

from contexts import async_fixture_of, fixture_of
from plugins.provider_site import (
    CONNECT,
    TOKEN,
    ProgramSuite,
    cleaned,
    machine_for,
    site_with,
    write_program,
)
from plugins.ssh_hosts import DIRECTORY, SshdHost, hosts_file, sshd_hosts
from weft.ports.provider import ProviderError, ProviderSite, WantedMachine
from weft_ssh.provider import SshProvider, check_hosts
from weft_ssh.settings import SshSettings
from weft_testing.provider_suite import wanted

pytestmark = [pytest.mark.engine(name="ssh"), pytest.mark.timeout(300)]
PROGRAM = """#!/bin/sh
trap 'kill $!; exit 0' TERM
mkdir -p "$WEFT_HOME/run"; printf '%s\\n' "$@" >"$WEFT_HOME/words"; : >"$WEFT_HOME/run/w.ready"
sleep 1000 & wait
"""
_DIES = """
import asyncio, os, pathlib, signal, sys
import asyncssh, msgspec
from plugins import test_ssh_provider as here

async def main():
    root, tag, program, moment = sys.argv[1:]
    provider = here.provider_at(pathlib.Path(root), tag)
    one = msgspec.json.decode(sys.stdin.buffer.read(), type=here.WantedMachine)
    run = asyncssh.SSHClientConnection.run
    async def dies(self, command, input, **options):
        if '"begin"' not in input:
            return await run(self, command, input=input, **options)
        if moment == "answered":
            await run(self, command, input=input, **options)
        else:
            process = await self.create_process(command, **options)
            process.stdin.write(input)
            process.stdin.write_eof()
            await process.stdin.drain()
            await asyncio.sleep(0.05)  # it is on its way
        os.kill(os.getpid(), signal.SIGKILL)
    asyncssh.SSHClientConnection.run = dies
    await provider.create(one)

asyncio.run(main())
"""
hosts = fixture_of(lambda: sshd_hosts(2), "module")


def settings_at(root: Path, **others: str) -> SshSettings:
    return SshSettings(
        ssh_hosts_file=root / "hosts.toml",
        ssh_identity=root / "identity",
        ssh_connect=CONNECT,
        ssh_directory=DIRECTORY,
        ssh_answer_s=20,
        **others,
    )


@pytest.fixture
def site(tmp_path: Path, hosts: Sequence[SshdHost]) -> ProviderSite:
    hosts_file(tmp_path / "hosts.toml", hosts)
    (tmp_path / "identity").symlink_to(hosts[0].identity)
    return site_with(settings_at(tmp_path), tmp_path)


def provider_at(root: Path, tag: str) -> SshProvider:
    return SshProvider(replace(site_with(settings_at(root), root), tag=tag))


provider = async_fixture_of(lambda site: cleaned(SshProvider(site)))


def running(hosts: Sequence[SshdHost], one: WantedMachine) -> list[str]:
    """Return the hosts on which a machine's worker runs, once for each of its processes."""
    look = (
        'for one in /proc/[0-9]*; do tr "\\0" "\\n" <$one/environ 2>/dev/null |'
        ' grep -qx "WEFT_WORKER_NAME=$1" && tr "\\0" " " <$one/cmdline && echo; done; true'
    )
    return [
        host.name
        for host in hosts
        for line in host.shell(look, one.name).splitlines()
        if "--connect" in line
    ]


class TestSshProvider(ProgramSuite):
    """The suite of the port."""


async def test_a_worker_outlives_the_connection_and_its_token_is_its_own(
    provider: SshProvider, program: Path, hosts: Sequence[SshdHost]
) -> None:
    """The token is in neither arguments nor variables; nothing stays of a deleted machine."""
    one = machine_for(program, slots=3)
    made = await provider.create(one)
    await provider.close()
    host = next(host for host in hosts if made.provider_id.startswith(f"{host.name}:"))
    seen = host.shell("cat /proc/[0-9]*/environ /proc/[0-9]*/cmdline 2>/dev/null; true")
    token = host.shell("cd /srv/weft/*/*/; stat -c %a token; cat token").split()
    words = host.shell("cat /srv/weft/*/*/home/words").splitlines()

    assert running(hosts, one) == [host.name]
    assert token == ["600", TOKEN]
    assert TOKEN not in seen + repr(one)
    assert words[:4] == ["worker", "--connect", CONNECT, "--token-file"]
    assert f"WEFT_WORKER_NAME={one.name}" in seen
    assert "WEFT_WORKER_SLOTS=3" in seen
    await provider.delete(one.name)
    assert running(hosts, one) == []
    assert host.shell("find /srv/weft -mindepth 2 ! -name lock") == ""


@pytest.mark.parametrize("moment", ["sent", "answered"])
async def test_a_driver_killed_around_a_call_leaves_one_machine(
    moment: str,
    provider: SshProvider,
    site: ProviderSite,
    program: Path,
    hosts: Sequence[SshdHost],
) -> None:
    """The next one calls again, and finds it; nobody who noted nothing leaves it for ever."""
    one = machine_for(program)
    words = [str(site.logs), site.tag, str(program), moment]
    plain = msgspec.structs.replace(one, credential=None)
    done = await asyncio.to_thread(
        subprocess.run,
        [sys.executable, "-c", _DIES, *words],
        input=msgspec.json.encode(plain),
        env={**os.environ, "PYTHONPATH": "tests"},
        timeout=60,
        check=False,
    )
    assert done.returncode == -signal.SIGKILL
    made = await asyncio.gather(*(provider.create(one) for _ in range(2)))
    assert len({found.provider_id for found in made}) == 1
    assert len(running(hosts, one)) == 1
    assert [found.name for found in await provider.list()] == [one.name]
    await provider.delete(one.name)
    assert running(hosts, one) == []


async def test_each_host_has_one_machine_and_a_full_pool_says_so(
    provider: SshProvider, program: Path, hosts: Sequence[SshdHost]
) -> None:
    here = machine_for(program, hosts="node1")
    made = await provider.create(here)
    others = await asyncio.gather(
        *(provider.create(machine_for(program)) for _ in range(2)), return_exceptions=True
    )
    full = [one for one in others if isinstance(one, ProviderError)]
    rack = msgspec.structs.replace(machine_for(program), region="rack9")

    assert made.provider_id.startswith("node1:")
    assert len(full) == 1
    assert full[0].is_full
    assert "node1: it has" in str(full[0])
    with pytest.raises(ProviderError, match="no host has such a name and region"):
        await provider.create(rack)
    with pytest.raises(ProviderError, match="no host has such a name and region"):
        await provider.create(machine_for(program, hosts="node7"))


async def test_a_host_that_is_away_is_passed_over_and_its_worker_is_found_later(
    provider: SshProvider, program: Path, hosts: Sequence[SshdHost]
) -> None:
    """Here it lost all; what a host still has when it answers again is listed, as any machine."""
    one, other = machine_for(program, hosts="node0"), machine_for(program)
    await provider.create(one)
    await asyncio.to_thread(hosts[0].die)
    made = await provider.create(other)
    with pytest.raises(ProviderError, match=r"node0: .*away"):
        await provider.create(machine_for(program))
    await provider.delete(one.name)
    await asyncio.to_thread(hosts[0].start)
    again = None
    async with asyncio.timeout(60):
        while again is None:
            with suppress(ProviderError):
                again = await provider.create(machine_for(program, hosts="node0"))

    assert made.provider_id.startswith("node1:")
    assert again.provider_id.startswith("node0:")


async def test_a_worker_that_ends_is_an_error_with_its_last_words(
    provider: SshProvider, program: Path, tmp_path: Path, hosts: Sequence[SshdHost]
) -> None:
    """Also one that ends later; a host on which they end comes last the next time."""
    program.write_text("#!/bin/sh\necho no licence >&2; exit 3\n")
    bad = machine_for(program)
    with pytest.raises(ProviderError, match="worker has ended: no licence"):
        await provider.create(bad)
    (found,) = await provider.list()
    assert "no licence" in found.error
    await provider.delete(bad.name)
    write_program(tmp_path, PROGRAM)
    one = machine_for(program)
    made = await provider.create(one)
    assert made.provider_id.partition(":")[0] != found.provider_id.partition(":")[0]
    host = next(host for host in hosts if made.provider_id.startswith(host.name))
    host.shell("kill -9 ${1%-*}", made.provider_id.partition(":")[2])
    async with asyncio.timeout(20):
        while not (await provider.list())[0].error:
            await asyncio.sleep(0)
    with pytest.raises(ProviderError, match="worker has ended"):
        await provider.create(one)


async def test_no_process_is_ended_that_is_not_proved_to_be_the_worker(
    provider: SshProvider, program: Path, hosts: Sequence[SshdHost]
) -> None:
    """Its number was given to another process, which may even have the variable of a job."""
    one = machine_for(program, hosts="node0")
    made = await provider.create(one)
    pid = made.provider_id.partition(":")[2].partition("-")[0]
    stranger = (
        hosts[0]
        .shell(
            "variable=$(tr '\\0' '\\n' </proc/$1/environ | grep ^WEFT_MACHINE=); kill -9 $1; "
            'export "$variable"; sleep 1000 >/dev/null 2>&1 & '
            'sed -i "s/\\[$1,/[$!,/" /srv/weft/*/*/process; echo $!',
            pid,
        )
        .strip()
    )
    await provider.delete(one.name)

    assert hosts[0].shell("cat /proc/$1/comm", stranger) == "sleep\n"
    hosts[0].shell("kill $1", stranger)
    assert await provider.list() == []


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"hosts": ","}, "option hosts: expected names"),
        ({"program": "weft"}, "option program: expected an absolute path on the hosts"),
        ({"program": "/none"}, "node0: it has no program /none"),
    ],
)
async def test_what_is_wrong_with_options_is_named(
    provider: SshProvider, program: Path, options: dict[str, str], words: str
) -> None:
    with pytest.raises(ProviderError, match=words):
        await provider.create(machine_for(program, **options))
    assert await provider.list() == []


async def test_a_machine_that_is_too_large_for_a_host_is_refused(
    provider: SshProvider, program: Path
) -> None:
    one = machine_for(program)
    large = msgspec.structs.replace(wanted().flavour, cpu_m=1_000_000)
    with pytest.raises(ProviderError, match=r"node1: it has .* cores") as caught:
        await provider.create(msgspec.structs.replace(one, flavour=large))
    assert not caught.value.is_full


async def test_what_is_wrong_with_the_file_is_named(site: ProviderSite) -> None:
    for text, words in [
        ("[[host]\n", "hosts.toml: "),
        ('[[host]]\nname = "a"\naddress = "a"\n', "missing required field `key`"),
        ('[[host]]\nname = "a"\naddress = "a@"\nkey = "k"\n', "address of host a is not"),
        ('[[host]]\nname = "a"\naddress = "a"\nkey = "k"\n', "key of host a is not a public key"),
    ]:
        (site.logs / "hosts.toml").write_text(text)
        with pytest.raises(ProviderError, match=words):
            await SshProvider(site).list()


async def test_a_host_with_another_key_is_not_spoken_to(
    site: ProviderSite, program: Path, hosts: Sequence[SshdHost]
) -> None:
    other = asyncssh.generate_private_key("ssh-ed25519").export_public_key().decode().strip()
    file = site.logs / "hosts.toml"
    file.write_text(
        f'[[host]]\nname = "a"\naddress = "127.0.0.1:{hosts[0].port}"\nkey = "{other}"'
    )
    with pytest.raises(ProviderError, match="not trusted"):
        await SshProvider(site).create(machine_for(program))
    n_answer, wrong = await check_hosts(settings_at(site.logs))
    assert (n_answer, list(wrong)) == (0, ["a"])
    hosts_file(file, hosts)
    assert await check_hosts(settings_at(site.logs)) == (2, {})
    assert "no such" in json.dumps(await check_hosts(settings_at(site.logs, ssh_python="no such")))
