"""What `deploy/` offers is taken by the programs that it is for."""

import os
import re
import subprocess
from ipaddress import ip_network
from pathlib import Path

import pytest
import yaml

from e2e.tmux import program
from up.weft_up import WEFT
from weft.core.access.trusted_proxies import parse_networks
from weft.run.systemd import UnitsRefused, write_units

ROOT = Path(__file__).resolve().parents[2]
RULES = ROOT / "deploy/prometheus/weft.rules.yml"
UNITS = ("weft", "weft-api", "weft-driver", "weft-worker")
NOMAD = pytest.param("nomad", marks=[pytest.mark.engine(name="nomad"), pytest.mark.timeout(1800)])
EXPOSURE = {"weft-api": 20, "weft-driver": 20}
"""Tenths, at most; else 30: what a worker forbids it forbids its jobs."""


def test_alerts_are_explained_and_ask_for_metrics_that_there_are() -> None:
    text = RULES.read_text()
    alerts = re.findall(r"alert: (\w+)", text)
    metrics = "".join(path.read_text() for path in (ROOT / "src/weft/telemetry").glob("*.py"))
    asked = {
        re.sub(r"_(total|bucket)$", "", name) for name in re.findall(r"\b(weft_\w+)[{\[ )]", text)
    }
    explained = re.findall(r"\| `(Weft\w+)`", (ROOT / "docs/operations/alerts.md").read_text())

    assert alerts == explained
    assert {name for name in asked if f'"{name}"' not in metrics} == set()


def test_nothing_depends_on_what_ends() -> None:
    """Podman starts again nothing whose dependency is not running, whatever `restart` says."""
    services = yaml.safe_load((ROOT / "deploy/compose.yaml").read_text())["services"]

    assert {"api-1", "driver-2", "worker", "prepare"} < set(services)
    assert [name for name, service in services.items() if "depends_on" in service] == []


def test_no_job_is_believed_as_a_proxy() -> None:
    """Only the proxy and the apis are in networks whose `X-Forwarded-For` is believed."""
    found = yaml.safe_load((ROOT / "deploy/compose.yaml").read_text())
    services, networks = found["services"], found["networks"]
    subnets = {
        name: ip_network(one["subnet"])
        for name, network in networks.items()
        for one in network["ipam"]["config"]
    }
    trusted = [
        network
        for service in services.values()
        for network in parse_networks(
            (service.get("environment") or {}).get("WEFT_TRUSTED_PROXIES", "")
        )
    ]
    believed = {
        name
        for name, service in services.items()
        for one in service.get("networks", ["default"])
        if any(subnets[one].overlaps(network) for network in trusted)
    }

    assert believed == {"api-1", "api-2", "proxy"}


@pytest.mark.heavy
def test_prometheus_takes_the_alerts() -> None:
    subprocess.run([program("promtool", "prometheus"), "check", "rules", RULES], check=True)


@pytest.mark.heavy
@pytest.mark.parametrize("part", ["grafana", "kubernetes", NOMAD])
def test_checks_pass_and_see_what_is_wrong(part: str) -> None:
    subprocess.run([ROOT / "deploy" / part / "check.sh"], check=True)


@pytest.mark.heavy
@pytest.mark.parametrize("user", [False, True])
def test_systemd_takes_the_units(tmp_path: Path, *, user: bool) -> None:
    analyze = program("systemd-analyze", "systemd")
    words = ("--systemd", "--root", str(tmp_path), *(["--user"] if user else []))
    told = subprocess.check_output([WEFT, "install", *words], text=True)
    units = [Path(line) for line in told.splitlines()]
    verify = [analyze, "verify", *(["--user"] if user else []), *map(str, units)]
    run = {**os.environ, "XDG_RUNTIME_DIR": str(tmp_path)}
    said = subprocess.run(verify, env=run, capture_output=True, text=True, check=False).stderr
    wrong = [line for line in said.splitlines() if "DelegateSubgroup" not in line]  # systemd 254

    assert sorted(unit.stem for unit in units) == sorted(UNITS)
    assert [line for line in wrong if str(tmp_path) in line or "Failed" in line] == []
    for unit in units if not user else ():
        most = f"--threshold={EXPOSURE.get(unit.stem, 30)}"
        subprocess.run([analyze, "security", "--offline=true", most, str(unit)], check=True)


def test_units_are_not_written_where_nothing_can_be(tmp_path: Path) -> None:
    (tmp_path / "file").touch()

    with pytest.raises(UnitsRefused, match="cannot write"):
        write_units(tmp_path / "file", tmp_path)
