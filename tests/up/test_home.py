import asyncio
import errno
import fcntl
import json
import os
import socket
import subprocess
import sys
import threading
from contextlib import suppress
from pathlib import Path

import pytest

from up.weft_up import DEADLINE_S, WEFT, run_weft
from weft.client.http.address import _OF_A_START
from weft.core.errors import Conflict
from weft.run.database import EmbeddedDatabase, RestoreInterrupted, SecretsLost
from weft.run.home import Home, HomeInUse, HomeNotUsable, explained, write_private
from weft.run.login import LOGINS, NoRoleDatabase, login_dsn
from weft.run.secrets_file import EMBEDDED
from weft.settings import Settings

HOLD = """
import sys
from pathlib import Path
from weft.run.home import Home
home = Home(Path(sys.argv[1]))
with home.locked():
    print("held", flush=True)
    sys.stdin.read()
"""


@pytest.fixture(name="home")
def prepared_home(tmp_path: Path) -> Home:
    home = Home(tmp_path / "home")
    home.prepare()
    return home


def test_directories_are_ours_alone(home: Home) -> None:
    assert [path.stat().st_mode & 0o777 for path in (home.path, home.run, home.role_logs)] == [
        0o700
    ] * 3


def test_secrets_and_client_file_can_be_read_by_us_only(home: Home) -> None:
    home.write_secrets({"admin": "postgresql://x"})
    home.write_client("http://127.0.0.1:1", "a token")

    assert home.secrets() == {"admin": "postgresql://x"}
    assert home.token() == "a token"
    assert home.secrets_file.stat().st_mode & 0o777 == 0o600
    assert home.client_file.stat().st_mode & 0o777 == 0o600


def test_logins_are_kept_apart_for_each_database(home: Home) -> None:
    other = "db.example/weft"
    home.write_secrets({"admin": "postgresql://embedded"})
    home.write_secrets({"admin": "postgresql://other"}, other, in_use=False)
    kept_only = home.secrets()
    home.write_secrets({"admin": "postgresql://other"}, other)

    assert kept_only == {"admin": "postgresql://embedded"}
    assert home.secrets() == home.secrets(other) == {"admin": "postgresql://other"}
    assert home.secrets(EMBEDDED) == {"admin": "postgresql://embedded"}


@pytest.mark.parametrize(
    ("dsn", "name"),
    [
        ("postgresql://postgres:pw@/postgres?host=%2Fhome%2Frun%2Fpg", EMBEDDED),
        ("postgresql://me:pw@DB.example:5432/weft?sslmode=require", "db.example/weft"),
        ("postgresql://me@%2Frun%2Fpg", "/run/pg/me"),
    ],
)
def test_logins_written_by_an_earlier_release_are_found(home: Home, dsn: str, name: str) -> None:
    home.secrets_file.write_text(json.dumps({"admin": dsn}))
    home.write_secrets({"admin": "postgresql://new"}, "new/weft")

    assert home.secrets(name) == {"admin": dsn}
    assert home.secrets() == {"admin": "postgresql://new"}


def test_lost_passwords_are_told_with_the_way_out(home: Home) -> None:
    settings = Settings(home=home.path)
    with pytest.raises(NoRoleDatabase):
        login_dsn(settings, "weft_api")
    home.pg.mkdir(parents=True)
    (home.pg / "PG_VERSION").write_text("18")

    with pytest.raises(SecretsLost) as caught:
        asyncio.run(EmbeddedDatabase(home).start())
    assert str(home.pg) in caught.value.hint


def test_interrupted_restore_is_told_with_the_ways_out(home: Home) -> None:
    aside = home.path / "pg.before-20261127T000000Z"
    for moved_to, made, told in (
        (None, None, "Nothing was there before"),
        (aside, None, str(home.pg)),
        (aside, aside, str(aside)),
    ):
        if made is not None:
            made.mkdir()
        home.begin_restore(Path("/backup/monday"), moved_to)
        with pytest.raises(RestoreInterrupted, match="was interrupted") as caught:
            asyncio.run(EmbeddedDatabase(home).start())
        assert told in caught.value.detail
        assert "`weft restore /backup/monday` again" in caught.value.hint
        assert not home.pg.exists()
    home.restore_file.write_text("{")
    with pytest.raises(HomeNotUsable, match="as home") as unreadable:
        asyncio.run(EmbeddedDatabase(home).start())
    assert str(home.restore_file) in unreadable.value.hint


@pytest.mark.parametrize("login", LOGINS)
def test_role_that_is_started_alone_has_the_login_of_its_calls(login: str, home: Home) -> None:
    """An api serves workers outside, too: with the login of workers, or not at all."""
    where = "db.example/weft"
    for named in (*LOGINS, "weft_owner"):
        given = f"postgresql://{named}:x@{where}"
        settings = Settings(home=home.path, database=given)
        is_enough = named in {login, "weft_owner"}
        if not is_enough:
            with pytest.raises(NoRoleDatabase, match=login):
                login_dsn(settings, login)
        kept = f"postgresql://{login}:y@{where}"
        home.write_secrets({login: kept}, where)

        assert login_dsn(settings, login) == (given if is_enough else kept)
        home.secrets_file.unlink()


def test_reader_never_sees_half_a_file(home: Home) -> None:
    """The file is replaced: who opened the old one reads the old one to its end."""
    home.write_client("http://127.0.0.1:1", "one")
    with home.client_file.open() as reader:
        home.write_client("http://127.0.0.1:2", "two")
        seen = json.load(reader)

    assert seen["token"] == "one"
    assert home.token() == "two"
    assert [path.name for path in home.path.glob(".client*")] == []


@pytest.mark.parametrize("content", ["", "{", "[]", '{"url": 1}'])
def test_damaged_client_file_counts_as_missing(home: Home, content: str) -> None:
    home.client_file.write_text(content)

    assert home.token() is None


def test_held_home_is_refused_with_the_holders_pid_until_that_is_killed(home: Home) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", HOLD, home.path], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as other:
        assert other.stdout is not None
        other.stdout.readline()
        held_by = home.holder()
        with pytest.raises(HomeInUse) as caught, home.locked():
            pass
        other.kill()

    assert held_by == caught.value.pid == other.pid
    assert caught.value.exit_code == 4
    assert home.holder() is None
    with home.locked():
        assert home.lock_file.read_text() == str(os.getpid())


def test_number_in_the_lock_is_believed_only_of_its_holder(home: Home) -> None:
    """A killed holder leaves its number, which may be another process's when the next one begins;
    and in another container the number means another process.
    """
    stranger = subprocess.Popen(["sleep", "60"])
    holder = os.open(home.lock_file, os.O_RDWR | os.O_CREAT)
    fcntl.flock(holder, fcntl.LOCK_EX)
    os.write(holder, str(stranger.pid).encode())
    try:
        held_by = home.holder()
        with pytest.raises(HomeInUse) as caught, home.locked():
            pass
        done = run_weft("down", "--home", str(home.path))
        lives = stranger.poll() is None
    finally:
        os.close(holder)
        stranger.kill()
        stranger.wait()

    assert (held_by, caught.value.pid) == (None, None)
    assert lives
    assert done.returncode == 4


def test_who_only_looks_does_not_keep_the_next_start_out(home: Home) -> None:
    """`holder` takes the lock for a moment; a start that falls into it tries again."""
    looker = os.open(home.lock_file, os.O_RDWR | os.O_CREAT)
    fcntl.flock(looker, fcntl.LOCK_SH)
    threading.Timer(0.02, os.close, [looker]).start()
    with home.locked():
        assert home.holder() == os.getpid()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a directory away")
def test_home_of_somebody_else_is_refused_by_name(tmp_path: Path) -> None:
    path = tmp_path / "theirs"
    path.mkdir()
    os.chown(path, 1, 1)

    with pytest.raises(HomeNotUsable, match="cannot use") as caught:
        Home(path).prepare()
    assert "belongs to daemon" in caught.value.detail
    assert "--home" in caught.value.hint


def test_home_below_a_file_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.touch()

    with pytest.raises(HomeNotUsable, match="cannot use") as caught:
        Home(file / "home").prepare()
    assert "is a file" in caught.value.detail


@pytest.mark.parametrize(
    ("number", "reason"),
    [
        (errno.ENOSPC, "The disk is full"),
        (errno.EDQUOT, "quota"),
        (errno.EROFS, "read-only"),
        (errno.EACCES, "may not write"),
    ],
)
def test_what_the_disk_says_is_explained(tmp_path: Path, number: int, reason: str) -> None:
    with pytest.raises(HomeNotUsable) as caught, explained(tmp_path):
        raise OSError(number, os.strerror(number))

    assert reason in caught.value.detail
    assert caught.value.hint


def test_full_disk_keeps_the_old_file(home: Home) -> None:
    home.write_client("http://127.0.0.1:1", "one")
    before = home.client_file.read_bytes()
    _limit = 16
    code = (
        "import resource, sys, signal\n"
        "from pathlib import Path\n"
        "from weft.core.errors import WeftError\n"
        "from weft.run.home import write_private\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        f"resource.setrlimit(resource.RLIMIT_FSIZE, ({_limit}, {_limit}))\n"
        "try:\n    write_private(Path(sys.argv[1]), {'url': 'x' * 99, 'token': 'y'})\n"
        "except WeftError as error:\n    print(error.code)\n"
    )
    said = subprocess.run(
        [sys.executable, "-c", code, home.client_file], check=True, capture_output=True, text=True
    )

    assert said.stdout == "UP.HOME_NOT_USABLE\n"
    assert home.client_file.read_bytes() == before
    assert [path.name for path in home.path.glob(".client*")] == []


def test_ready_file_lives_as_long_as_the_role_says(home: Home) -> None:
    with home.saying_ready("api", host="127.0.0.1", port=8765):
        assert home.ready("api") == {"pid": os.getpid(), "host": "127.0.0.1", "port": 8765}

    assert home.ready("api") == {}


def test_long_path_gets_a_private_socket_directory_that_is_found_again(tmp_path: Path) -> None:
    home = Home(tmp_path / ("long" * 30))
    home.prepare()
    first = home.socket_dir()
    again = Home(home.path).socket_dir()
    first.rmdir()
    anew = home.socket_dir()
    anew.rmdir()

    assert first == again
    assert first != anew
    assert len(str(first)) < 60


def test_short_path_has_its_socket_in_the_home(tmp_path_factory: pytest.TempPathFactory) -> None:
    home = Home(Path("/tmp/weft-home"))

    assert home.socket_dir() == home.run / "pg"


def test_write_private_replaces_whole_documents(home: Home) -> None:
    write_private(home.run / "x.json", {"a": 1, "b": 2})
    write_private(home.run / "x.json", {"a": 3})

    assert json.loads((home.run / "x.json").read_text()) == {"a": 3}


OF_A_START = _OF_A_START | {"client.json"}


@pytest.mark.heavy
@pytest.mark.parametrize("command", ["run --up --", "run --", "each --", "each -j 50% --"])
def test_a_first_command_starts_weft(tmp_path: Path, command: str) -> None:
    here = {"WEFT_HOME": str(tmp_path), "WEFT_PORT": "0"}
    item = [":::", "one"] if command.startswith("each") else []
    runs = [
        run_weft(*command.split(), "echo", word, *item, **here) for word in ("first", "second")
    ]
    down = run_weft("down", "--home", str(tmp_path))
    again = run_weft("run", "--", "echo", "third", **here)

    assert [run.stdout.split()[:1] for run in runs] == [["first"], ["second"]], runs
    assert ["starting weft" in run.stderr for run in runs] == [True, False]
    assert {entry.name for entry in tmp_path.iterdir()} <= OF_A_START
    assert (down.returncode, again.returncode) == (0, 3), again
    assert "Start it with `weft up`" in again.stderr


@pytest.mark.heavy
def test_commands_that_are_the_first_at_one_moment_share_one_start(tmp_path: Path) -> None:
    home = str(tmp_path)
    here = {**os.environ, "WEFT_HOME": home, "WEFT_PORT": "0"}
    lines = [("run", "--", "echo", "0"), ("each", "--", "echo", "1", ":::", "x")] * 2
    commands = [
        subprocess.Popen([WEFT, *line], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=here)
        for line in lines
    ]
    try:
        done = [(one.communicate(timeout=DEADLINE_S), one.returncode) for one in commands]
        batches = json.loads(run_weft("ls", "--json", "--home", home).stdout)
    finally:
        run_weft("down", "--home", home)

    assert [(out.split()[:1], code) for (out, _), code in done] == [
        ([b"0"], 0),
        ([b"1"], 0),
    ] * 2, done
    assert len(batches) == len(lines)


@pytest.mark.heavy
def test_a_start_that_nobody_asked_for_takes_a_free_port(tmp_path: Path) -> None:
    """A port that is said and taken is refused in words of `weft up`; the home it leaves is new
    to the next command.
    """
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        said = {"WEFT_HOME": str(tmp_path), "WEFT_PORT": str(taken.getsockname()[1])}
        refused = run_weft("run", "--", "echo", "one", **said)
    with socket.socket() as usual:
        with suppress(OSError):  # then somebody else listens there
            usual.bind(("127.0.0.1", Settings(home=tmp_path).port))
            usual.listen()
        done = run_weft("run", "--", "echo", "two", WEFT_HOME=str(tmp_path))
    run_weft("down", "--home", str(tmp_path))

    assert refused.returncode == Conflict.exit_code
    assert "weft up --port 0" in refused.stderr
    assert (done.stdout, done.returncode) == ("two\n", 0), done


@pytest.mark.heavy
def test_whoever_waits_for_a_start_that_fails_starts_weft(home: Home) -> None:
    here = {**os.environ, "WEFT_HOME": str(home.path), "WEFT_PORT": "0"}
    held = subprocess.Popen(
        [sys.executable, "-c", HOLD, home.path], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    with held as other:
        assert other.stdout is not None
        other.stdout.readline()
        waiting = subprocess.Popen(
            [WEFT, "run", "-n", "--", "echo", "mine"],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=here,
        )
        assert waiting.stderr is not None
        said = waiting.stderr.readline()
        other.kill()
    out, more = waiting.communicate(timeout=DEADLINE_S)
    run_weft("down", "--home", str(home.path))

    assert b"another command starts" in said
    assert (out, waiting.returncode) == (b"mine\n", 0), more


@pytest.mark.parametrize(
    "named", ["WEFT_URL=http://127.0.0.1:1", "WEFT_TOKEN=x", "WEFT_JOB=b1.j1"]
)
def test_nothing_is_started_where_a_server_is_named(tmp_path: Path, named: str) -> None:
    name, _, text = named.partition("=")
    home = tmp_path / "home"
    done = run_weft("run", "--", "true", WEFT_HOME=str(home), WEFT_PORT="0", **{name: text})

    assert (done.returncode, home.exists()) == (3, False), done
