"""What `deploy/` offers is taken by the programs that it is for."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
RULES = ROOT / "deploy/prometheus/weft.rules.yml"
UNITS = sorted((ROOT / "deploy/systemd").glob("*.service"))
EXPOSURE = {"weft": 30, "weft-api": 20, "weft-driver": 20, "weft-worker": 30}
"""Tenths, at most; what a worker forbids it forbids its jobs."""


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


def program(name: str, package: str) -> str:
    command = [str(ROOT / "tools/debian_program.sh"), name, package]
    found = subprocess.run(command, capture_output=True, text=True, check=False)
    if found.returncode:
        pytest.skip(found.stderr)
    return found.stdout.strip()


@pytest.mark.heavy
def test_prometheus_takes_the_alerts() -> None:
    subprocess.run([program("promtool", "prometheus"), "check", "rules", RULES], check=True)


@pytest.mark.heavy
@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: unit.stem)
def test_systemd_takes_the_units(unit: Path, tmp_path: Path) -> None:
    analyze = program("systemd-analyze", "systemd")
    copy = tmp_path / unit.name
    copy.write_text(unit.read_text().replace("/opt/weft/bin/weft", sys.executable))
    said = subprocess.run([analyze, "verify", copy], capture_output=True, text=True, check=False)
    wrong = [line for line in said.stderr.splitlines() if unit.name in line]

    assert [line for line in wrong if "DelegateSubgroup" not in line] == []  # systemd 254
    most = f"--threshold={EXPOSURE[unit.stem]}"
    subprocess.run([analyze, "security", "--offline=true", most, copy], check=True)
