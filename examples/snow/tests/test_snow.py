"""The production line of examples/snow, with its own catalogue and endpoint."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from snow_catalogue import Scene, bands
from snow_scene import filled, snow_map

DEMO = Path(__file__).parents[1] / "snow_demo.py"


@pytest.mark.parametrize("share", [0.0, 0.3, 1.0])
def test_index_finds_the_snow_that_was_generated(share: float) -> None:
    found = snow_map(*bands(Scene("32TLR", "2027-04-01", share), 1))
    assert abs(float(np.mean(found)) - share) < 0.01


def test_clouds_are_filled_by_the_scene_before() -> None:
    green, infrared = bands(Scene("32TLR", "2027-04-01", 0.5, 0.4), 2)
    snow = snow_map(green, infrared)
    assert 0.3 < float(np.isnan(snow).mean()) < 0.5
    whole, share = filled(snow, np.ones_like(snow))
    assert not np.isnan(whole).any()
    assert share == float(np.isnan(snow).mean())
    assert filled(snow, None)[1] == 0


@pytest.mark.heavy
@pytest.mark.timeout(300)
def test_demo_announces_its_products_within_three_minutes() -> None:
    """It checks what became of each scene itself."""
    done = subprocess.run(
        [sys.executable, str(DEMO)], check=False, capture_output=True, text=True, timeout=280
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Scenes by status" in done.stdout
    assert "refused" in done.stdout
