"""The guide of Ray, as it stands there, on a real Ray."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from e2e.conftest import Weft
from e2e.guide_reader import blocks_of
from e2e.test_engines_together import gateway, told, weft
from runners.ray_cluster import ray_cluster

pytestmark = [pytest.mark.engine(name="ray"), pytest.mark.timeout(900)]
__all__ = ["weft"]
GUIDE = Path(__file__).parents[2] / "docs" / "guides" / "ray.md"
WITHIN_S = 300.0


def test_commands_of_the_guide(weft: Weft, tmp_path: Path) -> None:
    """Its gateway is ours; its jobs run once, each says where, and the node is in its history."""
    gate, submit = (text for kind, text in blocks_of(GUIDE.read_text()) if kind == "console")
    assert "weft worker --runner ray --worker-cpu 200 --worker-memory 800Gi" in gate
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    with ray_cluster() as ray:
        settings = {"WEFT_RAY_ADDRESS": ray.address}
        with gateway(weft, "ray", tmp_path / "gateway.log", settings):
            done = subprocess.run(
                ["sh", "-ec", re.sub(r"^\$ ", "", submit, flags=re.MULTILINE)],
                check=False,
                capture_output=True,
                cwd=tmp_path,
                env=weft.environment({"PATH": path}),
                timeout=WITHIN_S,
            )
            assert done.returncode == 0, done.stderr.decode()
            said = [weft.run("logs", f"b1.j{number}").stdout.decode() for number in range(1, 11)]
            last = told(weft, "status", "b1.j3")
    weft.told("audit", timeout_s=120)

    assert all(re.fullmatch(rf"{n} at \S+:\d+\n", one) for n, one in enumerate(said)), said
    assert re.search(r"Ray job weft-\w+-b1-j3-a1 on node \w+", str(last["history"]))
