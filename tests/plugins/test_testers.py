"""The testers that are built in, each against the real thing."""

import asyncio
import os
import socket
from pathlib import Path
from threading import Thread

import pytest

from callbacks import receiver
from cases import cases
from contexts import fixture_of
from weft.core.addresses import parse_allowed_hosts
from weft.core.ends import conditions
from weft.ports import tester as port
from weft.run.isolated.answering.tester import begin

HERE = "127.0.0.1"
SITE = port.TesterSite(parse_allowed_hosts(HERE), timeout_s=5)


def look(
    tester: str, *, allowed: str = HERE, site: port.TesterSite | None = None, **given: str
) -> conditions.Tested:
    """Make one test."""
    site = site or port.TesterSite(parse_allowed_hosts(allowed), timeout_s=5)
    return begin((tester, site))(given)


server = fixture_of(lambda: socket.create_server((HERE, 0)))


def port_of(server: socket.socket) -> str:
    return str(server.getsockname()[1])


def closed_port() -> str:
    with socket.create_server((HERE, 0)) as one:
        return port_of(one)


def test_tcp_passes_while_somebody_listens(server: socket.socket) -> None:
    port, other = port_of(server), closed_port()

    assert look("tcp", host=HERE, port=port) == conditions.Tested(
        passed=True, message=f"{HERE}:{port} answers"
    )
    assert look("tcp", host=HERE, port=other) == conditions.Tested(
        passed=False, message=f"{HERE}:{other}: Connection refused"
    )


@pytest.mark.parametrize("host", [HERE, "localhost", "[::1]", "::ffff:127.0.0.1", "10.0.0.1"])
def test_a_private_address_is_refused_unless_the_setting_allows_it(
    server: socket.socket, host: str
) -> None:
    found = look("tcp", allowed="", host=host, port=port_of(server))

    assert not found.passed
    assert "tester_private_hosts" in found.message or "neither" in found.message


@cases("host", ["127.1", "2130706433", "a b", "", "x" * 300, "é", "0x7f.1"])
def test_a_host_is_a_name_or_an_address(host: str) -> None:
    found = look("tcp", allowed="*", host=host, port="80")

    assert not found.passed
    assert "neither the name of a host nor an address" in found.message


@cases("port", ["0", "65536", "-1", "http", "٣", "9" * 900, ""])
def test_a_port_is_a_number(port: str) -> None:
    assert "is not the number of a port" in look("tcp", host=HERE, port=port).message


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ({"host": HERE}, "needs the parameter 'port'"),
        ({"host": HERE, "port": "1", "hots": "x"}, "has no parameter 'hots'"),
    ],
)
def test_parameters_are_checked(given: dict[str, str], why: str) -> None:
    assert why in begin(("tcp", SITE))(given).message


def answering(server: socket.socket, data: bytes) -> Thread:
    """Send this to the next one who connects."""

    def answer() -> None:
        connection, _ = server.accept()
        with connection:
            connection.sendall(data)

    thread = Thread(target=answer)
    thread.start()
    return thread


@pytest.mark.parametrize(
    ("greeting", "passed"),
    [(b"SSH-2.0-OpenSSH\r\n", True), (b"220 mail\r\n", False), (b"", False)],
)
def test_ssh_wants_its_greeting(server: socket.socket, greeting: bytes, passed: bool) -> None:
    thread = answering(server, greeting)
    found = look("ssh", host=HERE, port=port_of(server))
    thread.join()

    assert found.passed is passed


@cases(("status", "passed"), [(200, True), (302, True), (404, False), (503, False)])
async def test_http_looks_at_the_status(status: int, passed: bool) -> None:
    moved = receiver.answering(status, headers="location: http://10.0.0.1/\r\n")
    async with receiver.receiving(moved) as server:
        found = await asyncio.to_thread(look, "http", url=server.url)

    assert found == conditions.Tested(
        passed=passed, message=f"{HERE}:{server.port} answers with {status}"
    )


def test_http_wants_a_plain_url() -> None:
    assert "a URL with a login" in look("http", url=f"http://me:pw@{HERE}/").message
    assert "not an http" in look("http", url="file:///etc/passwd").message


def test_path_looks_only_where_it_may(tmp_path: Path) -> None:
    inside, outside = tmp_path / "data", tmp_path / "secret"
    inside.mkdir()
    outside.touch()
    (inside / "there").touch()
    (inside / "link").symlink_to(outside)
    site = port.TesterSite(parse_allowed_hosts(""), timeout_s=5, paths=(str(inside),))

    assert look("path", site=site, path=str(inside / "there")).passed
    missing = look("path", site=site, path=str(inside / "missing"))
    assert missing.message.endswith("No such file or directory")
    hidden = [
        str(outside),
        str(inside / "link"),
        f"{inside}/../secret",
        f"{inside}/../nothing",
        "there",
    ]
    for path in hidden:
        assert "tester_paths" in look("path", site=site, path=path).message


def test_quota_asks_for_room(tmp_path: Path) -> None:
    site = port.TesterSite(parse_allowed_hosts(""), timeout_s=5, paths=(str(tmp_path),))
    here = str(tmp_path)
    found = os.statvfs(tmp_path)
    more = found.f_bavail * found.f_frsize + (1 << 40)

    assert look("quota", site=site, path=here).passed
    assert look("quota", site=site, path=here, bytes="1Ki", files="1").passed
    full = look("quota", site=site, path=here, bytes=str(more))
    assert not full.passed
    assert "free, and" in full.message
    assert not look("quota", site=site, path=here, files=str(10**14)).passed
    assert "tester_paths" in look("quota", site=site, path="/").message
    assert "No such file" in look("quota", site=site, path=f"{here}/missing").message


@cases(
    "given",
    [
        {"bytes": "much"},
        {"bytes": "-1"},
        {"files": "-1"},
        {"files": "9" * 900},
        {"files": "٣"},
        {"size": "1"},
    ],
)
def test_quota_refuses_wrong_amounts(tmp_path: Path, given: dict[str, str]) -> None:
    site = port.TesterSite(parse_allowed_hosts(""), timeout_s=5, paths=(str(tmp_path),))
    found = look("quota", site=site, path=str(tmp_path), **given)

    assert not found.passed
    assert "wrong: " in found.message or "has no parameter" in found.message


@pytest.mark.parametrize(
    ("script", "said"),
    [
        ("kill -TERM $$", "it: killed by SIGTERM"),
        ("echo no licence; kill -KILL $$", "it: no licence, killed by SIGKILL"),
        ("exit 9", "it: exit code 9"),
    ],
)
def test_command_that_says_nothing_tells_how_it_ended(
    tmp_path: Path, script: str, said: str
) -> None:
    program = tmp_path / "check"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o700)
    site = port.TesterSite(parse_allowed_hosts(""), timeout_s=5, commands={"it": str(program)})

    assert look("command", site=site, name="it") == conditions.Tested(False, said)  # noqa: FBT003


def test_command_runs_what_the_operator_named(tmp_path: Path) -> None:
    program = tmp_path / "check"
    program.write_text("#!/bin/sh\necho $# licences; head -c 1000000 /dev/zero; exit ${0##*-}\n")
    program.chmod(0o700)
    for code in (0, 3):
        (tmp_path / f"ends-{code}").symlink_to(program)
    site = port.TesterSite(
        parse_allowed_hosts(""),
        timeout_s=5,
        commands={"good": str(tmp_path / "ends-0"), "bad": str(tmp_path / "ends-3")},
    )

    assert look("command", site=site, name="good") == conditions.Tested(True, "good: 0 licences")  # noqa: FBT003
    assert look("command", site=site, name="bad") == conditions.Tested(False, "bad: 0 licences")  # noqa: FBT003
    assert "tester_commands" in look("command", site=site, name=str(program)).message
