"""The exit codes of HR-S&I on a real Nomad, by the files of `examples`."""

import time
from pathlib import Path

import pytest

from e2e.conftest import Weft
from e2e.test_engines_together import gateway, told, weft
from runners.nomad_cluster import nomad_cluster

pytestmark = [pytest.mark.engine(name="nomad"), pytest.mark.timeout(900)]
__all__ = ["weft"]
EXAMPLES = Path(__file__).parents[2] / "examples"
WITHIN_S = 300.0
FAILED = ["internal_error", "error_checked"]
ERRORS = ("internal_error", "external_error", "error_checked")


def test_codes_mean_what_they_do_there(weft: Weft, tmp_path: Path) -> None:
    for words in (
        ("line", "apply", str(EXAMPLES / "lifecycles" / "hrsi.toml")),
        ("queue", "apply", str(EXAMPLES / "nomad" / "queues.toml"), "--yes"),
    ):
        weft.told(*words)
    with nomad_cluster() as nomad:
        settings = {"WEFT_NOMAD_ADDRESS": nomad.address}
        with gateway(weft, "nomad", tmp_path / "gateway.log", settings):
            batch = weft.told("submit", str(EXAMPLES / "nomad" / "hrsi.yaml")).decode().strip()
            deadline = time.monotonic() + WITHIN_S
            while not (status := told(weft, "status", batch))["complete"]:
                assert time.monotonic() < deadline, status
            jobs = [told(weft, "status", f"{batch}.j{number}") for number in range(1, 5)]
    ends = {
        job["exit_code"]: (
            job["status"],
            [(one["worker"], one["exit_code"]) for one in job["attempts"]],
            [one["status"] for one in job["history"] if one.get("status") in ERRORS],
        )
        for job in jobs
    }
    assert ends == {
        0: ("done", [("nomad", 0)], []),
        2: ("internal_error", [("nomad", 2)] * 3, [*(FAILED * 2), "internal_error"]),
        130: (
            "internal_error",
            [("nomad", 130)] * 3,
            [*["external_error"] * 2, "internal_error"],
        ),
        200: ("done", [("nomad", 200)], []),
    }
    assert "no product" in [one["subtype"] for one in jobs[3]["history"]]
    weft.told("audit", timeout_s=120)
