"""`weft backup` while jobs run, and what `weft restore` makes of it, or refuses."""

import json
import shutil
from collections.abc import Callable
from functools import partial
from hashlib import sha256
from pathlib import Path

import pytest

from e2e.conftest import Weft

SLEEPER = b'{"jobs": [{"command": ["sleep", "60"]}]}'


def flip(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


def first(backup: Path, pattern: str) -> Path:
    return next(path for path in sorted(backup.glob(pattern)) if path.stat().st_size > 100)


def change(copy: Path, **facts: object) -> None:
    facts = json.loads((copy / "backup.json").read_text()) | facts
    kept = {name: fact for name, fact in facts.items() if fact is not None}
    (copy / "backup.json").write_text(json.dumps(kept))


def note(copy: Path, **facts: object) -> None:
    """Change the manifest as if it had been written so."""
    change(copy, **facts, sum=None)
    text = json.dumps(json.loads((copy / "backup.json").read_text()), sort_keys=True)
    change(copy, sum=sha256(text.encode()).hexdigest())


def outdate(copy: Path, name: str) -> None:
    change(copy, **{name: "2026-11-27T00:00:00+00:00"})


def change_list(manifest: Path) -> None:
    """Change the list of files of the data, and its own sum with it."""
    begin = manifest.read_bytes().partition(b'"Manifest-Checksum"')[0] + b" "
    manifest.write_bytes(
        begin + b'"Manifest-Checksum": "' + sha256(begin).hexdigest().encode() + b'"}\n'
    )


OUTDATED = ("release", "begun_at", "made_at", "sums", "sum", "conflicts", "home")
WRONG: dict[str, tuple[Callable[[Path], object], str]] = {
    "data": (lambda copy: flip(first(copy, "pg/base/*/*")), "was changed"),
    "gone": (lambda copy: first(copy, "pg/global/*").unlink(), "is missing"),
    "log": (lambda copy: first(copy, "pg/pg_wal/0*").write_bytes(bytes(1 << 24)), "pg_waldump"),
    "list": (lambda copy: flip(copy / "pg/backup_manifest"), "backup_manifest"),
    "secrets": (lambda copy: flip(copy / "secrets.json"), "was changed after the backup"),
    "other list": (
        lambda copy: change_list(copy / "pg/backup_manifest"),
        "was changed after the backup",
    ),
    **{
        f"manifest's {name}": (partial(outdate, name=name), "json was changed")
        for name in OUTDATED
    },
    "no sum": (lambda copy: change(copy, sum=None), "not a whole backup"),
    "end": (lambda copy: (copy / "backup.json").unlink(), "not a whole backup"),
    "newer": (lambda copy: note(copy, schema="9999_x", release="9.9"), "weft 9.9 made it"),
    "schema": (lambda copy: note(copy, schema="x"), "not a whole backup"),
    "time": (lambda copy: note(copy, made_at=None), "not a whole backup"),
}


def do(weft: Weft, *arguments: str, stdin: bytes | None = None) -> str:
    done = weft.run(*arguments, stdin=stdin, timeout_s=120)
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout.decode()


def refused(weft: Weft, *arguments: str) -> str:
    done = weft.run(*arguments)
    assert done.returncode in {3, 4}, done.stdout.decode()
    return done.stderr.decode()


@pytest.mark.heavy
@pytest.mark.timeout(300)
def test_a_backup_is_restored_whole_or_not_at_all(tmp_path: Path, small_disk: Path) -> None:
    """Numbers of jobs are given again after it; their output is that of the new ones."""
    weft, kept = Weft(tmp_path / "home"), tmp_path / "kept"
    do(weft, "up", "--port", "0", "--detach")
    try:
        do(weft, "run", "--", "echo", "before")
        running = do(weft, "submit", "-", "--format", "json", stdin=SLEEPER).strip()
        waits = {"script": f"while [ ! -e {tmp_path}/go ]; do sleep 0.1; done"}
        document = json.dumps({"jobs": [waits]}).encode()
        ran_on = do(weft, "submit", "-", "--format", "json", stdin=document).strip()
        do(weft, "backup", str(kept))
        do(weft, "run", "--", "echo", "lost")
        (tmp_path / "go").touch()
        do(weft, "wait", ran_on)

        assert "is not empty" in refused(weft, "backup", str(kept))
        assert "already running" in refused(weft, "restore", str(kept))
        assert "No space left" in refused(weft, "backup", str(small_disk / "kept"))
        assert not list(small_disk.glob("kept/*"))
        do(weft, "down")
        was = (weft.home / "pg/global/pg_control").read_bytes()
        for name, (damage, words) in WRONG.items():
            copy = shutil.copytree(kept, tmp_path / name)
            damage(copy)
            assert words in refused(weft, "restore", str(copy)), name
        elsewhere = ("--home", str(small_disk / "home"))
        assert "No space left" in refused(weft, "restore", str(kept), *elsewhere)
        assert not list(small_disk.glob("home/pg*"))
        assert (weft.home / "pg/global/pg_control").read_bytes() == was

        noted = shutil.copytree(kept, tmp_path / "noted")
        note(noted, conflicts={"again": "none"}, home="/etc", moved_to="/etc")
        facts = json.loads(do(weft, "restore", str(noted), "--json"))
        assert facts["home"] == str(weft.home)
        assert Path(facts["moved_to"]).parent == weft.home
        conflicts = facts["conflicts"]
        assert conflicts["again"] == [f"{running}.j1", f"{ran_on}.j1"]
        assert conflicts["missing"] == [{"first": "b4.j1", "n_jobs": 1}]
        told = weft.run("doctor").stdout.decode()
        assert "2 jobs ran after the backup that was restored, 1 came" in " ".join(told.split())
        assert conflicts["file"] in told
        do(weft, "up", "--port", "0", "--detach")
        assert do(weft, "logs", "b1.j1") == "before\n"
        assert do(weft, "run", "--", "echo", "after") == "after\n"
        assert do(weft, "logs", "b4.j1") == "after\n"
        do(weft, "cancel", running)
        do(weft, "audit")
    finally:
        do(weft, "down")
