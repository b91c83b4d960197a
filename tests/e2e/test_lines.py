"""A production line as its operator uses it: a file, a batch, and the history of a job."""

import json
from pathlib import Path

import pytest

from e2e.conftest import Weft

pytestmark = pytest.mark.slow
HRSI = Path(__file__).parents[2] / "examples" / "lifecycles" / "hrsi.toml"
SCENE = 'if [ "$WEFT_ATTEMPT_NO" = 1 ]; then exit 130; fi'


def history(weft: Weft, job: str) -> list[str]:
    """Return the statuses that a job had."""
    shown = json.loads(weft.run("status", job, "--json").stdout)
    return [row["status"] for row in shown["history"] if "status" in row]


def test_scene_with_an_external_error_has_the_history_of_the_reference(
    weft: Weft, tmp_path: Path
) -> None:
    """Its program ends with 130, and is started again: section 5, without what it publishes."""
    weft.told("line", "apply", str(HRSI), "--name", "scenes")
    batch = tmp_path / "batch.json"
    batch.write_text(
        json.dumps(
            {
                "lifecycle": "hrsi",
                "jobs": [
                    {
                        "command": ["sh", "-c", SCENE],
                        "outputs": [{"from": "products/*.json", "optional": True}],
                        "retry": {"policy": "constant", "wait_s": 0.01},
                    }
                ],
            }
        )
    )
    made = weft.told("submit", str(batch), "--wait", "--json")
    job = f"b{json.loads(made)['id']}.j1"
    assert history(weft, job) == [
        "initialized",
        "configured",
        "ready",
        "queued",
        "started",
        "pre_processing",
        "processing",
        "external_error",
        "started",
        "pre_processing",
        "processing",
        "post_processing",
        "processed",
        "done",
    ]
    assert weft.run("line", "rm", "scenes").returncode == 0
