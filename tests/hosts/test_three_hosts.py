"""The guide "Workers on other machines" as it is written, on three hosts that share a network."""

import json
import os
import re
import subprocess
from pathlib import Path

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
            _output_is_live(server)
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
        "sh", "-c",
        f'export {" ".join(environment)}; ({loop}) >>/srv/worker.log 2>&1 </dev/null &',
        "sh", *command.split(), "--log-format", "json",
    )  # fmt: skip


def _spawner_of(node: Host) -> str:
    return str(re.findall(r'"spawner_pid":(\d+)', node.read("/srv/worker.log"))[-1])


def _output_is_live(server: Host) -> None:
    script = "echo begun; while [ ! -e /mnt/go ]; do sleep 0.05; done; echo ended"
    batch = _submit(server, [{"script": script}])
    with subprocess.Popen(
        server.command(*PROGRAM, "logs", "-f", f"{batch}.j1"), stdout=subprocess.PIPE
    ) as following:
        assert following.stdout is not None
        assert following.stdout.readline() == b"begun\n"
        assert server.run("touch", "/mnt/go").returncode == 0
        assert following.stdout.readline() == b"ended\n"


def _submit(server: Host, jobs: list[dict[str, object]]) -> str:
    document = {"defaults": {"max_attempts": 8}, "jobs": jobs}
    server.write("/srv/jobs.json", json.dumps(document).encode())
    made = server.weft("submit", "/srv/jobs.json", "--json")
    assert made.returncode == 0, made.stderr.decode()
    return f"b{json.loads(made.stdout)['batch_id']}"
