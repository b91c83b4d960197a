"""A job that says how much of its output is kept, and how much it is to say."""

import json
from pathlib import Path

import pytest

from e2e.conftest import Weft
from e2e.terminal import on_terminal, script_of

pytestmark = pytest.mark.slow
JOBS = """
jobs:
- {name: much, script: "seq 1000000; seq 1000 >&2", log: {max_bytes: 1000}}
- {name: too much, script: "echo all of it", log: {max_bytes: 1000000000000}}
- {name: level, script: 'echo "$LOG_LEVEL $WEFT_JOB"', log: {level: debug}}
- {name: other, script: 'echo "$LEVEL-$LOG_LEVEL"', log: {level: info, level_env: LEVEL}}
"""


def test_a_job_keeps_as_much_of_its_output_as_it_says(weft: Weft, tmp_path: Path) -> None:
    (tmp_path / "jobs.yaml").write_text(JOBS)
    done = weft.told("submit", str(tmp_path / "jobs.yaml"), "--wait", "--json")
    batch = f"b{json.loads(done)['id']}"

    much = weft.run("logs", f"{batch}.j1", "--stream", "stdout")
    errors = weft.run("logs", f"{batch}.j1", "--stream", "stderr")
    (_, whole, level, other) = (
        weft.run("logs", f"{batch}.j{n}").stdout.decode() for n in range(1, 5)
    )

    text = "".join(f"{n}\n" for n in range(1, 1_000_001)).encode()
    few = "".join(f"{n}\n" for n in range(1, 1001)).encode()
    assert much.stdout == text[:500] + text[-500:]
    assert errors.stderr.startswith(few[:500])  # with a note where the middle was
    assert few[-500:] in errors.stderr
    assert len(errors.stderr) < 1500
    assert b"of stdout were left out" in much.stderr
    assert (whole, level, other) == ("all of it\n", f"debug {batch}.j3\n", "info-\n")


def test_what_makes_no_sense_is_refused(weft: Weft, tmp_path: Path) -> None:
    file = tmp_path / "jobs.yaml"
    cases = [
        ("{max_bytes: 0}", "log.max_bytes"),
        ("{max_bytes: all}", "log.max_bytes"),
        ("{level: 'a b'}", "log.level"),
        ("{level_env: 'A=B'}", "log.level_env"),
        ("{keep: 3}", "log.keep"),
        ("{keep_s: 0}", "log.keep_s"),
        ("{keep_s: 1d}", "log.keep_s"),
    ]
    for log, where in cases:
        file.write_text(f"jobs:\n- {{script: 'true', log: {log}}}\n")
        done = weft.run("submit", str(file))
        assert done.returncode == 2
        assert where in done.stderr.decode()


def test_what_the_system_recorded_of_a_job_is_told_in_order(weft: Weft, tmp_path: Path) -> None:
    file = tmp_path / "jobs.yaml"
    file.write_text("jobs:\n- {script: 'echo said; exit 3', max_attempts: 2, retry_on: [exit]}\n")
    done = weft.run("submit", str(file), "--wait", "--json")
    job = f"b{json.loads(done.stdout)['id']}.j1"

    found = json.loads(weft.run("logs", "--system", job, "--json").stdout)
    lines = weft.run("logs", "--system", job).stdout.decode().splitlines()
    second = json.loads(weft.run("logs", "--system", job, "--attempt", "2", "--json").stdout)

    assert [one["at"] for one in found] == sorted(one["at"] for one in found)
    assert len(lines) == len(found)
    ends = [one for one in found if one["text"].endswith("exit code 3")]
    assert [one["attempt"] for one in ends] == [1, 2]
    assert ends[0]["text"].startswith("running → ready")
    assert ends[1]["text"].startswith("running → failed")
    assert ends[0]["by"].startswith("worker ")
    assert "said" not in "".join(lines)
    assert {one["attempt"] for one in second} == {2}
    for wrong in ((job.partition(".")[0],), (job, "-f"), (job, "--grep", "x")):
        refused = weft.run("logs", "--system", *wrong)
        assert refused.returncode == 2
        assert b"`--system` is for one job" in refused.stderr


def test_batch_that_is_followed_on_a_terminal_shows_its_progress(
    weft: Weft, tmp_path: Path
) -> None:
    (tmp_path / "jobs.yaml").write_text("jobs: [{script: sleep 1; echo a}, {script: echo b}]")
    batch = weft.run("submit", str(tmp_path / "jobs.yaml")).stdout.decode().strip()
    with on_terminal(script_of("logs", "-f", batch), weft.environment()) as one:
        assert one.finish() == 0
    assert f"\x1b[2K{batch} " in one.shown
    assert f"{batch}.j1:" in one.shown
