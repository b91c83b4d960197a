r"""Write the document of the pipeline: `pipeline.py DIRECTORY > pipeline.json`.

Three levels, each job named, children after their parents:

    count:asyncio  count:ast ...    one job per package or module
           \         /
            merge:a  merge:b ...    one job per letter, its parents are its packages
                 \   /
                 report             one job, its parents are all letters
"""

import json
import sys
from pathlib import Path
from typing import Any

from counting import letter_of, packages

HERE = Path(__file__).resolve().parent
Job = dict[str, Any]


def _job(name: str, group: str, *arguments: str, parents: list[str]) -> Job:
    script, *rest = arguments
    return {
        "name": name,
        "group": group,
        "command": [sys.executable, str(HERE / script), *rest],
        "parents": parents,
        "resources": {"cpu": 1, "memory": "128Mi"},
    }


def make_pipeline(directory: Path) -> dict[str, Any]:
    """Return the document of `POST /v1/batches`; results go to the directory."""
    names = packages()
    letters = sorted({letter_of(name) for name in names})
    place = str(directory)
    counts = [
        _job(f"count:{name}", "/count", "count.py", name, place, parents=[]) for name in names
    ]
    merges = [
        _job(
            f"merge:{letter}", "/merge", "merge.py", letter, place,
            parents=[f"count:{name}" for name in names if letter_of(name) == letter],
        )
        for letter in letters
    ]  # fmt: skip
    report = _job(
        "report", "/report", "report.py", place, parents=[f"merge:{letter}" for letter in letters]
    )
    return {
        "name": "stdlib",
        "attributes": {"example": "stdlib"},
        "jobs": [*counts, *merges, report],
    }


if __name__ == "__main__":
    json.dump(make_pipeline(Path(sys.argv[1]).absolute()), sys.stdout, indent=1)
