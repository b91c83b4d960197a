"""`weft simulate`, without a server."""

import gzip
import json
from pathlib import Path

import pytest

from weft.cli.app import run_command

TRACE = """\
; Version: 2.2
1 0 -1 100 3 -1 -1 -1 -1 -1 1 1 1 -1 0 -1 -1 -1
2 10 -1 100 4 -1 -1 -1 -1 -1 1 1 1 -1 0 -1 -1 -1
3 20 -1 50 1 -1 -1 -1 -1 -1 1 2 1 -1 0 -1 -1 -1
4 30 -1 -1 1 -1 -1 -1 -1 -1 0 2 1 -1 0 -1 -1 -1
"""
POOL = """\
[[pool]]
name = "four"
provider = "process"
max_workers = 1
min_workers = 1
[[pool.flavours]]
name = "four"
cpu = 4
memory = "4Gi"
price_per_hour = 2
"""
SMALL = POOL.replace("four", "two").replace("cpu = 4", "cpu = 2")


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work in a directory with a trace and a pool."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    (tmp_path / "t.swf").write_text(TRACE)
    (tmp_path / "pool.toml").write_text(POOL)
    return tmp_path


def test_figures_as_json(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with gzip.open(place / "packed", "wt") as packed:
        packed.write(TRACE)
    assert run_command(["simulate", "packed", "--pool", "pool.toml", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)

    waits = {name: one["wait_s"]["mean"] for name, one in found["policies"].items()}
    assert waits == {"weft": 90, "fifo": 90, "easy": 30}
    assert (found["jobs"], found["left_out"], found["static_cores"]) == (3, 1, 4)
    assert found["policies"]["fifo"]["cost"] == round(2 * 250 / 3600, 2)
    assert [one["user"] for one in found["users"]] == [1, 2]
    assert found["speed"].keys() == {
        "wall_s",
        "times_real_time",
        "decisions",
        "decisions_per_s",
    }


def test_the_same_seed_gives_the_same_figures(capsys: pytest.CaptureFixture[str]) -> None:
    printed = []
    for _ in range(2):
        words = "simulate t.swf --pool pool.toml --seed 3 --load 0.5 --boot 2m --json"
        assert run_command(words.split()) == 0
        printed.append(json.loads(capsys.readouterr().out) | {"speed": None})

    assert printed[0] == printed[1]
    assert (printed[0]["seed"], printed[0]["boot_s"], printed[0]["load"]) == (3, 120, 0.5)


def test_jobs_that_were_stopped_for_others_are_counted(capsys: pytest.CaptureFixture[str]) -> None:
    words = "simulate t.swf --pool pool.toml --priority 2=5 --max-running-per-application 9"
    assert run_command([*words.split(), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert run_command(words.split()) == 0

    assert (found["priorities"], found["max_running_per_application"]) == ({"2": 5}, 9)
    assert found["policies"]["weft"]["preempted"] == 1
    assert "preempted\t1\t0\t0" in capsys.readouterr().out.splitlines()


def test_a_table_beside_static_clusters(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command(["simulate", "t.swf", "--pool", "pool.toml"]) == 0
    printed = capsys.readouterr()
    lines = printed.out.splitlines()

    assert lines[0].split("\t") == ["Figure", "weft", "FIFO", "EASY"]
    assert lines[1].split("\t") == ["wait, mean", "1:30", "1:30", "30.0 s"]
    assert "3 jobs, 1 that never ran left out; static clusters of 4 cores" in printed.err


@pytest.mark.parametrize(
    ("words", "code", "told"),
    [
        ("none.swf --pool pool.toml", "CLI.UNREADABLE_DOCUMENT", "cannot read 'none.swf'"),
        ("pool.toml --pool pool.toml", "CLI.UNREADABLE_TRACE", "pool.toml:1 is not a job"),
        ("empty --pool pool.toml", "CLI.UNREADABLE_TRACE", "empty has no jobs"),
        ("cut.gz --pool pool.toml", "CLI.UNREADABLE_TRACE", "cannot unpack the trace"),
        ("t.swf --pool t.swf", "CLI.UNREADABLE_DOCUMENT", "cannot read t.swf as TOML"),
        ("t.swf --pool two.toml", "CLI.JOB_NEVER_STARTS", "can hold job 2 of t.swf"),
        ("t.swf --pool both.toml", "CLI.WHICH_POOL", "both.toml describes 2 pools"),
        ("t.swf --pool both.toml --name x", "CLI.WHICH_POOL", "describes no pool 'x'"),
        ("t.swf --pool wrong.toml", "API.WRONG_TYPE", ""),
        ("t.swf --pool pool.toml --load 0", "CLI.WRONG_OPTION", "the value of --load"),
        ("t.swf --pool pool.toml --load nan", "CLI.WRONG_OPTION", "the value of --load"),
        ("t.swf --pool pool.toml --losses -1", "CLI.WRONG_OPTION", "the value of --losses"),
        ("t.swf --pool pool.toml --losses nan", "CLI.WRONG_OPTION", "the value of --losses"),
        ("t.swf --pool pool.toml --max-running 0", "CLI.WRONG_OPTION", "of --max-running "),
        ("t.swf --pool pool.toml --priority 3", "CLI.WRONG_OPTION", "the value of --priority"),
        ("t.swf --pool pool.toml --boot -1", "CLI.WRONG_OPTION", "the value of --boot"),
    ],
)
def test_what_cannot_be_simulated_is_refused(
    place: Path, capsys: pytest.CaptureFixture[str], words: str, code: str, told: str
) -> None:
    (place / "empty").touch()
    (place / "cut.gz").write_bytes(gzip.compress(TRACE.encode())[:-20])
    (place / "two.toml").write_text(SMALL)
    (place / "both.toml").write_text(POOL + SMALL)
    (place / "wrong.toml").write_text(POOL.replace("cpu = 4", "cpu = [4]"))

    assert run_command(["simulate", *words.split(), "--json"]) == 2
    error = json.loads(capsys.readouterr().err)
    assert error["code"] == code
    assert told in error["title"]


def test_a_wrong_field_of_a_pool_is_named_with_its_line(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (place / "wrong.toml").write_text(POOL.replace('memory = "4Gi"', 'memory = "4 apples"'))

    assert run_command(["simulate", "t.swf", "--pool", "wrong.toml"]) == 2
    assert "pool 'four', flavour 'four', memory" in capsys.readouterr().err


@pytest.mark.heavy
def test_figures_are_drawn(place: Path) -> None:
    (place / "<b>.swf").write_text(TRACE)
    words = ["simulate", "<b>.swf", "--pool", "pool.toml"]
    for number in (1, 2):
        plots = ["--plot", f"p{number}.png", "--plot", f"p{number}.html"]
        assert run_command([*words, *plots]) == 0
    page = (place / "p1.html").read_text()

    assert (place / "p1.png").read_bytes().startswith(b"\x89PNG")
    assert "<title>&lt;b&gt;.swf on pool four</title>" in page
    assert "<b>" not in page
    assert "<script" not in page
    assert page.count("<svg") == 1
    for form in ("png", "html"):
        first, second = (place / f"p{number}.{form}" for number in (1, 2))
        assert first.read_bytes() == second.read_bytes()


def test_a_picture_of_another_kind_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    words = "simulate t.swf --pool pool.toml --plot x.gif --json"

    assert run_command(words.split()) == 2
    assert "ends neither with .png nor with .html" in json.loads(capsys.readouterr().err)["detail"]


@pytest.mark.heavy
def test_a_picture_that_cannot_be_written_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    words = "simulate t.swf --pool pool.toml --plot none/x.png --json"

    assert run_command(words.split()) == 2
    assert "cannot write 'none/x.png'" in json.loads(capsys.readouterr().err)["title"]
