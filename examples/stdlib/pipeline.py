r"""Write the document of the pipeline: `pipeline.py DIRECTORY > pipeline.json`.

Three levels, each job named, children after their parents:

    measure:0  measure:8 ...    one job per part of the library
           \         /
            merge:0  merge:1 ...    one job per eight parts, its parents
                 \   /
                 report             one job, its parents are all merges
"""

import json
import sys
from pathlib import Path
from typing import Any

from counting import PARTS

HERE = Path(__file__).resolve().parent
MERGES = 6
FAILING_PART = 7
"""Its job fails at its first attempt, on purpose, and is repeated."""
Job = dict[str, Any]


def parts_of(number: int) -> list[int]:
    """Return the parts that one job of the second level adds up."""
    return list(range(number, PARTS, MERGES))


def _job(name: str, group: str, *arguments: str, parents: list[str]) -> Job:
    script, *rest = arguments
    return {
        "name": name,
        "group": group,
        "command": [sys.executable, str(HERE / script), *rest],
        "parents": parents,
        "resources": {"cpu": 1, "memory": "128Mi"},
        "max_attempts": 2,
    }


def _measure(part: int, place: str) -> Job:
    flags = ["--fail-first"] if part == FAILING_PART else []
    name = f"measure:{part}"
    return _job(name, "/measure", "measure.py", str(part), place, *flags, parents=[])


def make_pipeline(directory: Path) -> dict[str, Any]:
    """Return the document of `POST /v1/batches`; results go to the directory."""
    place = str(directory)
    merges = [
        _job(
            f"merge:{number}",
            "/merge",
            "merge.py",
            str(number),
            place,
            parents=[f"measure:{part}" for part in parts_of(number)],
        )
        for number in range(MERGES)
    ]
    report = _job(
        "report",
        "/report",
        "report.py",
        place,
        parents=[f"merge:{number}" for number in range(MERGES)],
    )
    return {
        "name": "stdlib",
        "attributes": {"example": "stdlib"},
        "jobs": [*(_measure(part, place) for part in range(PARTS)), *merges, report],
    }


if __name__ == "__main__":
    json.dump(make_pipeline(Path(sys.argv[1]).absolute()), sys.stdout, indent=1)
