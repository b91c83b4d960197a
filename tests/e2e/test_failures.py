"""Jobs that fail for good, as a person sees them."""

import json

import pytest

from e2e.conftest import Weft, as_json
from weft import Client

pytestmark = pytest.mark.heavy

SECRET = "sw0rdfish-of-the-test"
SCRIPT = """
echo reading >&2
if [ $1 = 3 ]; then exit 4; fi
printf 'Traceback (most recent call last):\\n  File "x.py"\\n' >&2
echo "ValueError: row $1 of /data/$1.csv is bad, token=$MY_TOKEN" >&2
exit 1
"""


def test_failures_are_explained_and_acknowledged(weft: Weft) -> None:
    done = weft.run(
        "each",
        "--json",
        "--env",
        f"MY_TOKEN={SECRET}",
        "--",
        "sh",
        "-c",
        SCRIPT,
        "sh",
        "{}",
        stdin=b"1\n2\n3\n",
    )
    batch = weft.run("ls", "--json").stdout
    b = f"b{json.loads(batch)[0]['id']}"
    found = as_json(weft, "failures", b)
    page = weft.run("failures", b).stdout.decode()
    listed = as_json(weft, "failures", "ls", b)
    of_one = as_json(weft, "failures", "ls", b, "--cause", found["causes"][0]["cause"])
    first = weft.run("failures", "ack", f"{b}.j3", "--note", "known")
    rest = weft.run("failures", "ack", b, "--note", "the data was wrong")
    after = weft.run("failures", b).stdout.decode()
    history = weft.run("status", f"{b}.j1").stdout.decode()

    assert done.returncode != 0
    assert (found["n_jobs"], found["n_causes"]) == (3, 2)
    cause = found["causes"][0]
    assert cause["message"] == "ValueError: row <n> of <path> is bad, token=<masked>"
    assert (cause["n_jobs"], cause["example"]["job_id"], cause["exit_code"]) == (2, 1, 1)
    assert "row 1 of /data/1.csv" in cause["example"]["message"]
    assert page.startswith("3 failures, 2 causes\n\n2 × exit code 1: ValueError: row <n>")
    assert "    ValueError: row 1 of /data/1.csv is bad" in page
    assert SECRET not in json.dumps([listed, cause["example"], cause["message"]])
    assert {one["job_id"] for one in listed} == {1, 2, 3}
    assert {one["job_id"] for one in of_one} == {1, 2}
    assert first.stderr.decode().endswith("1 failed job acknowledged\n")
    assert rest.stderr.decode().endswith("2 failed jobs acknowledged\n")
    assert after == f"{b}: no failures, 3 acknowledged\n"
    assert "the data was wrong" in history


def test_program_lists_and_acknowledges_failures(weft: Weft) -> None:
    with Client(home=weft.home) as client:
        bb = client.create_batch()
        for code in (4, 4, 5):
            bb.create_job(["sh", "-c", f"exit {code}"])
        batch = bb.submit()
        batch.wait()
        causes = batch.list_causes()
        listed = [one["job_id"] for one in batch.list_dead_letters(cause=causes[0]["cause"])]
        of_all = [
            one["job_id"] for one in client.list_dead_letters() if one["batch_id"] == batch.id
        ]
        acknowledged = batch.acknowledge("known", jobs=[3])
        again = batch.get_job(3).acknowledge("seen"), batch.get_job(1).acknowledge("seen")
        left = [(one["exit_code"], one["n_jobs"]) for one in batch.list_causes()]
        all_ = [one["exit_code"] for one in batch.list_causes(all_=True)]

    assert [(one["exit_code"], one["n_jobs"]) for one in causes] == [(4, 2), (5, 1)]
    assert (sorted(listed), sorted(of_all), acknowledged) == ([1, 2], [1, 2, 3], 1)
    assert (again, left, all_) == ((0, 1), [(4, 1)], [4, 5])
