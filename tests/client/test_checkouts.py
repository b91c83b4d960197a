"""What travels of a folder as code: of a checkout what a real git lists, in any mood of git's, or
nothing; never a file that it does not track.
"""

import os
import subprocess
from collections.abc import Callable
from io import BytesIO
from pathlib import Path

import pytest

from weft.client.submission.ahead import code_of
from weft.core.errors import Invalid
from weft.wire.app_folder import entries

SECRETS = {".env": "PASSWORD=x", "ignored.key": "x", "new.py": "x"}
TRACKED = {"a.py", "grün.py", 'src/quo"te.py', "src/-x.py", ".gitignore"}
WHO = ("-c", "user.name=a", "-c", "user.email=a@b", "-c", "protocol.file.allow=always")


def git(at: Path, *words: str) -> None:
    subprocess.run(["git", *WHO, *words], cwd=at, check=True, capture_output=True)


def checkout(at: Path, names: set[str]) -> Path:
    for name in names:
        (at / name).parent.mkdir(parents=True, exist_ok=True)
        (at / name).write_text("ignored.key\n" if name == ".gitignore" else name)
    git(at, "init", "-q")
    git(at, "add", "-A")
    git(at, "commit", "-qm", "x")
    for name, text in SECRETS.items():
        (at / name).write_text(text)
    return at


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return checkout(tmp_path / "checkout", TRACKED)


def travelled(folder: Path) -> set[str]:
    packed = BytesIO(code_of(folder).body)
    return {one.name for one in entries(packed, 1 << 20) if one.file is not None}


def refused(folder: Path) -> str:
    with pytest.raises(Invalid) as error:
        code_of(folder)
    assert "without `.git`" in (error.value.hint or "")
    return error.value.detail or ""


def test_what_git_tracks_travels(folder: Path) -> None:
    assert travelled(folder) == TRACKED
    assert travelled(folder / "src") == {'quo"te.py', "-x.py"}
    (folder / "a.py").unlink()
    assert travelled(folder) == TRACKED - {"a.py"}


def test_submodules_and_other_work_trees_travel(folder: Path, tmp_path: Path) -> None:
    library = checkout(tmp_path / "library", {"lib.py"})
    git(folder, "submodule", "add", "-q", str(library), "lib")
    git(folder, "commit", "-qm", "y")
    assert travelled(folder) == TRACKED | {".gitmodules", "lib/lib.py"}
    git(folder, "worktree", "add", "-q", str(tmp_path / "tree"))
    assert travelled(tmp_path / "tree") == TRACKED | {".gitmodules"}


def test_a_conflict_makes_no_file_travel_twice(folder: Path) -> None:
    git(folder, "checkout", "-qb", "side")
    (folder / "a.py").write_text("side")
    git(folder, "commit", "-qam", "side")
    git(folder, "checkout", "-q", "-")
    (folder / "a.py").write_text("here")
    git(folder, "commit", "-qam", "here")
    with pytest.raises(subprocess.CalledProcessError):
        git(folder, "merge", "side")
    assert travelled(folder) == TRACKED


def test_variables_of_git_lead_to_no_other_repository(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As in a hook, where git sets them."""
    other = checkout(tmp_path / "other", {"a.py", "other.py"})
    listing = subprocess.run(
        ["git", "rev-parse", "--local-env-vars"], check=True, capture_output=True
    )
    for name in [*listing.stdout.decode().split(), "GIT_CEILING_DIRECTORIES"]:
        at = {"GIT_WORK_TREE": other, "GIT_INDEX_FILE": other / ".git/index"}
        with monkeypatch.context() as set_one:
            set_one.setenv(name, str(at.get(name, other / ".git")))
            assert travelled(folder) == TRACKED, name
    monkeypatch.setenv("GIT_DIR", str(other / ".git"))
    monkeypatch.setenv("GIT_WORK_TREE", str(other))
    assert travelled(folder) == TRACKED


def damage_index(folder: Path) -> None:
    (folder / ".git/index").write_bytes(b"garbage")


def damage_head(folder: Path) -> None:
    (folder / ".git/HEAD").unlink()


def empty_repository(folder: Path) -> None:
    subprocess.run(["rm", "-r", folder / ".git"], check=True)
    (folder / ".git").mkdir()


def leave_no_repository(folder: Path) -> None:
    subprocess.run(["rm", "-r", folder / ".git"], check=True)
    (folder / ".git").write_text("gitdir: /nowhere/at/all\n")


def track_nothing(folder: Path) -> None:
    git(folder, "rm", "-rq", "--cached", ".")


def belong_to_another(folder: Path) -> None:
    if os.geteuid():
        pytest.skip("only root gives files away")
    subprocess.run(["chown", "-R", "12345:12345", folder], check=True)


@pytest.mark.parametrize(
    "spoil",
    [
        damage_index,
        damage_head,
        empty_repository,
        leave_no_repository,
        track_nothing,
        belong_to_another,
    ],
)
def test_where_git_lists_nothing_nothing_travels(
    folder: Path, spoil: Callable[[Path], None]
) -> None:
    spoil(folder)
    assert "git" in refused(folder).lower()


def test_folder_within_a_checkout_that_tracks_nothing_there(folder: Path) -> None:
    (folder / "build").mkdir()
    (folder / "build/made.py").write_text("x")
    assert "tracks no file" in refused(folder / "build")


def test_checkout_without_git_here(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    assert "cannot be run" in refused(folder)
    assert "cannot be run" in refused(folder / "src")


def test_all_of_a_plain_folder_travels_and_what_cannot_is_named(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("x")
    assert travelled(tmp_path) == {"a.py"}
    (tmp_path / "venv/bin").mkdir(parents=True)
    (tmp_path / "venv/bin/python").symlink_to("/usr/bin/python3")
    with pytest.raises(Invalid) as error:
        code_of(tmp_path)
    assert error.value.detail == "It holds 'venv/bin/python': links and devices do not travel."
