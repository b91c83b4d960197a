"""The image of a worker that `deploy/worker-image.sh` makes runs weft under its own account."""

import json
import os
import subprocess
from pathlib import Path

import pytest

from e2e.tmux import program

pytestmark = [pytest.mark.heavy, pytest.mark.engine, pytest.mark.timeout(1800)]
SCRIPT = Path(__file__).parents[2] / "deploy" / "worker-image.sh"


def test_image_of_a_worker_runs_weft(tmp_path: Path) -> None:
    """The account of the image may not write what is root's, and finds its own home."""
    if os.geteuid() != 0:
        pytest.skip("an image is made by root")
    for name in ("mmdebstrap", "umoci"):
        program(name)
    image = f"{tmp_path}/layout:1"
    subprocess.run([SCRIPT, f"{tmp_path}/layout", "1"], check=True, timeout=1700)
    subprocess.run(["umoci", "unpack", "--image", image, f"{tmp_path}/bundle"], check=True)
    process = json.loads((tmp_path / "bundle" / "config.json").read_text())["process"]
    inside = ["chroot", "--userspec=1000:1000", str(tmp_path / "bundle" / "rootfs")]
    words = ["env", "-i", *process["env"], "weft", "--version"]
    told = subprocess.run([*inside, *words], check=True, capture_output=True, text=True).stdout

    assert told.startswith("weft ")
    assert (process["user"]["uid"], process["args"]) == (1000, ["/usr/local/bin/weft", "worker"])
