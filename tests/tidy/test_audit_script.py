"""What the audit of the requirements makes of the answers of pip-audit."""

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tidy.source_files import ROOT

HOLE = {"id": "PYSEC-1", "fix_versions": ["1.1"]}
SOUND = {"name": "a", "version": "1.0", "vulns": []}
OPEN = {"name": "b", "version": "1.0", "vulns": [HOLE]}
UNKNOWN = {"name": "c", "skip_reason": "not found"}
ANSWERS: dict[str, tuple[list[Any] | None, int, str, str]] = {
    "nothing": ([SOUND], 0, "1 packages of r.txt, 0 known holes\n", ""),
    "a hole": ([SOUND, OPEN], 1, "b 1.0: PYSEC-1, fixed in 1.1\n", ""),
    "a hole beside what is unknown": ([UNKNOWN, OPEN], 1, "b 1.0: PYSEC-1", "not audited: c\n"),
    "some are unknown": ([SOUND, UNKNOWN], 2, "1 packages of r.txt", "not audited: c\n"),
    "all are unknown": ([UNKNOWN], 2, "", "has none of these packages\n"),
    "no answer": (None, 2, "", "is out of reach: away\n"),
}


@pytest.mark.parametrize("what", ANSWERS)
def test_audit_fails_for_known_holes_and_tells_what_was_not_checked(
    tmp_path: Path, what: str
) -> None:
    answer, code, told, why = ANSWERS[what]
    program = tmp_path / ".tools/uv/bin/uv"
    program.parent.mkdir(parents=True)
    script = "#!/bin/sh\necho away >&2; exit 1\n"
    if answer is not None:
        (tmp_path / "answer.json").write_text(json.dumps({"dependencies": answer}))
        find = 'while [ "$1" != --output ]; do shift; done'
        script = f'#!/bin/sh\n{find}; cp answer.json "$2"; exit 1\n'
    program.write_text(script)
    program.chmod(0o755)
    (tmp_path / "tools").mkdir()
    shutil.copy(ROOT / "tools/audit_requirements.sh", tmp_path / "tools")
    done = subprocess.run(
        [tmp_path / "tools/audit_requirements.sh", "r.txt"],
        check=False,
        capture_output=True,
        text=True,
        env=dict(os.environ),
    )

    assert done.returncode == code, done.stderr
    assert told in done.stdout
    assert (done.stderr.endswith(why), done.stderr.count("\n")) == (True, 1 if why else 0)
