"""The guide "Workers on other machines" as it is written, on three hosts that share a network."""

import json
import os
import re
from pathlib import Path
from subprocess import CompletedProcess
from time import monotonic

import pytest

from certificates import certificate
from e2e.conftest import until
from hosts.hosts import HOME, PROGRAM, Host, hosts

pytestmark = [pytest.mark.heavy, pytest.mark.timeout(600)]
GUIDE = Path(__file__).parents[2] / "docs" / "guides" / "many-machines.md"
SERVER = "10.77.0.1"
JOB = """
exec 9>>"/mnt/lock-$1"
flock -n 9 || echo "$1" >>/mnt/twice
echo "said $1"
sleep 0.4
echo "$1 $(hostname)" >>/mnt/done
"""


@pytest.mark.skipif(os.geteuid() != 0, reason="only root makes namespaces with a network")
def test_nothing_is_lost_or_lives_twice_when_hosts_and_processes_die(tmp_path: Path) -> None:
    done = tmp_path / "done"

    def n_done() -> int:
        return len(done.read_text().splitlines()) if done.exists() else 0

    with hosts(["server", "node1", "node2"], tmp_path) as (server, node1, node2):
        _start_server(server, [node1, node2])
        try:
            for node in (node1, node2):
                _start_worker(node)
            until(lambda: server.weft("worker", "ls").stdout.count(b"\nnode") == 2)
            batch = _submit(
                server, [{"command": ["sh", "-c", JOB, "sh", f"{one}"]} for one in range(1, 121)]
            )
            until(lambda: n_done() > 10)
            node1.kill(node1.read("/srv/agent.pid"))
            until(lambda: n_done() > 25)
            ready = json.loads(server.read(f"{HOME}/run/api.ready"))
            server.kill(str(ready["pid"]))
            until(lambda: n_done() > 40)
            node1.kill(_spawner_of(node1))
            until(lambda: n_done() > 60)
            node2.break_down()
            waited = server.weft("wait", batch, timeout_s=240)
            assert waited.returncode == 0, waited.stdout + waited.stderr
            audit = server.weft("audit")
            assert audit.returncode == 0, audit.stdout.decode()
            assert server.weft("logs", f"{batch}.j120").stdout == b"said 120\n"
        finally:
            down = server.weft("down")
        assert down.returncode == 0, down.stderr.decode()
    names = {line.split()[0] for line in done.read_text().splitlines()}
    assert names == {f"{one}" for one in range(1, 121)}
    assert {"node1", "node2"} == {line.split()[1] for line in done.read_text().splitlines()}
    assert not (tmp_path / "twice").exists()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root makes namespaces with a network")
def test_a_host_runs_jobs_a_minute_after_its_invitation(tmp_path: Path) -> None:
    """It trusts nothing but the line that is typed there; the token is in no argument."""
    with hosts(["server", "node1"], tmp_path) as (server, node):
        _start_server(server, [])
        begun = monotonic()
        invited = server.weft("worker", "invite", "--url", f"https://{SERVER}:8765").stdout

        def type_there(line: str, pid_file: str, begin: str = "") -> "CompletedProcess[bytes]":
            text = f"PATH={Path(PROGRAM[0]).parent}:$PATH; echo $$ >/srv/{pid_file}; exec {line}"
            node.write("/srv/line", text.encode())
            clean = ("env", "-u", "WEFT_HOME", "-u", "WEFT_CA_FILE", "sh", "-c")
            return node.run(*clean, f"sh /srv/line {begin}")

        def runs_a_job() -> bool:
            until(lambda: b'"active"' in server.weft("worker", "show", "node1", "--json").stdout)
            return server.weft("run", "--cpu", "1", "--", "hostname").stdout == b"node1\n"

        aside = ">>/srv/worker.log 2>&1 </dev/null &"
        type_there(invited.decode(), "pid", aside)
        assert runs_a_job(), node.read("/srv/worker.log")
        assert monotonic() - begun < 60
        shown = node.run("sh", "-c", "cat /proc/[0-9]*/cmdline /proc/[0-9]*/environ").stdout
        assert b"weft.run.worker" in shown
        assert invited.partition(b"#")[2].rpartition(b".")[0] not in shown
        again = type_there(invited.decode(), "again")
        assert (again.returncode, again.stderr.count(b'"node1" has used it')) == (4, 1)
        node.run("sh", "-c", "kill $(cat /srv/pid)")
        until(lambda: b'"active"' not in server.weft("worker", "show", "node1", "--json").stdout)
        type_there(re.findall("start it: `(.*)`", again.stderr.decode())[0], "pid", aside)
        assert runs_a_job()


def _start_server(server: Host, nodes: list[Host]) -> None:
    authority = certificate()
    pair = certificate(SERVER, issuer=authority)
    server.write("/srv/cert.pem", pair.cert_pem())
    server.write("/srv/key.pem", pair.key_pem())
    server.write(
        f"{HOME}/weft.toml",
        b'host = "0.0.0.0"\ntls_cert_file = "/srv/cert.pem"\ntls_key_file = "/srv/key.pem"\n',
    )
    up = server.weft("up", "--worker-cpu", "1m", "--detach", timeout_s=120)
    assert up.returncode == 0, up.stderr.decode()
    token = server.weft(*_line("weft token create").partition(">")[0].split()[1:])
    assert token.returncode == 0, token.stderr.decode()
    for node in nodes:
        node.write("/srv/ca.pem", authority.cert_pem())
        node.write("/srv/etc/node.token", token.stdout)


def _line(begin: str) -> str:
    """Return a line of the guide, without quotes, as the shell would pass it."""
    (found,) = re.findall(rf"^\$ ({begin}.*)$", GUIDE.read_text(), re.MULTILINE)
    return str(found).replace('"', "")


def _start_worker(node: Host) -> None:
    """Do what systemd does with the unit of the guide."""
    unit = GUIDE.read_text().partition("```ini\n")[2].partition("```")[0]
    unit = unit.replace("/etc/weft", "/srv/etc").replace("/var/lib/weft", HOME)
    unit = unit.replace("/opt/weft/bin/weft", " ".join(PROGRAM)).replace("%H", node.name)
    unit = unit.replace("https://weft.example.org", f"https://{SERVER}:8765")
    assert "Restart=always" in unit
    environment = re.findall(r"^Environment=(.*)$", unit, re.MULTILINE)
    environment = [
        "WEFT_CA_FILE=/srv/ca.pem" if one.startswith("WEFT_CA_FILE") else one
        for one in environment
    ]
    (command,) = re.findall(r"^ExecStart=(.*)$", unit, re.MULTILINE)
    loop = 'while :; do sh -c \'echo $$ >/srv/agent.pid; exec "$@"\' sh "$@"; sleep 1; done'
    node.run(
        "sh",
        "-c",
        f"export {' '.join(environment)}; ({loop}) >>/srv/worker.log 2>&1 </dev/null &",
        "sh",
        *command.split(),
        "--log-format",
        "json",
    )


def _spawner_of(node: Host) -> str:
    return str(re.findall(r'"spawner_pid":(\d+)', node.read("/srv/worker.log"))[-1])


def _submit(server: Host, jobs: list[dict[str, object]]) -> str:
    document = {"defaults": {"max_attempts": 8}, "jobs": jobs}
    server.write("/srv/jobs.json", json.dumps(document).encode())
    made = server.weft("submit", "/srv/jobs.json", "--json")
    assert made.returncode == 0, made.stderr.decode()
    return f"b{json.loads(made.stdout)['batch_id']}"
