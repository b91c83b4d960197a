import json
import re
from collections.abc import Mapping
from pathlib import Path

import platformdirs
import pytest

from cases import cases
from tidy.source_files import product_files
from weft.api.http.problem_documents import refusal_of
from weft.core.errors import TooLarge
from weft.core.states import AttemptKey, Reason
from weft.plugins.log_stores.files.settings import FilesSettings
from weft.ports.runner import never_started
from weft.settings import (
    Declared,
    InvalidSetting,
    Settings,
    all_declared,
    declared_in,
    default_home,
    explain_settings,
    load_client_settings,
    load_settings,
    misspelt_variables,
    values_of,
    variable_of,
)
from weft.settings.client import ClientProcessSettings
from weft.settings.submission import SubmissionSettings
from weft.worker.agent.reporting import end_report


def _write(home: Path, text: str) -> None:
    (home / "weft.toml").write_text(text)


def test_default_is_used_when_nobody_says_anything(tmp_path: Path) -> None:
    settings = load_settings({"home": tmp_path}, {})

    assert settings == Settings(home=tmp_path)


def test_flag_beats_environment_beats_file_beats_default(tmp_path: Path) -> None:
    _write(tmp_path, "port = 1\nhost = 'file'\npool = 'file'\n")
    environ = {"WEFT_PORT": "2", "WEFT_HOST": "environment"}

    found, _ = explain_settings({"home": tmp_path, "port": 3}, environ)

    names = ("port", "host", "pool", "drivers")
    assert [(found[name].value, found[name].where) for name in names] == [
        (3, "command line"),
        ("environment", "environment WEFT_HOST"),
        ("file", str(tmp_path / "weft.toml")),
        (1, "default"),
    ]


@pytest.mark.parametrize(
    ("text", "environ"),
    [
        ("", {}),
        ("url = 'http://x'\n", {"WEFT_CA_FILE": "/ca"}),
        ("port = 1\n", {}),
        ("", {"WEFT_X": "y"}),
    ],
)
def test_a_client_finds_what_all_others_find(
    tmp_path: Path, text: str, environ: Mapping[str, str]
) -> None:
    _write(tmp_path, text)
    flags = {"home": tmp_path, "token": "t"}

    found, whole = load_client_settings(flags, environ), load_settings(flags, environ)

    names = [one.name for one in declared_in(ClientProcessSettings)]
    assert {"home", "url", "token", "ca_file"} <= {*names}
    assert [getattr(found, name) for name in names] == [getattr(whole, name) for name in names]


@pytest.mark.parametrize(
    "text",
    [
        "port = -1",
        "prot = 1",
        "url = 1",
        "port = true",
        "port = 8765.5",
        "heartbeat_s = nan",
        "bunch_bytes_max = true",
    ],
)
def test_a_mistake_in_the_file_is_told_to_clients_too(tmp_path: Path, text: str) -> None:
    _write(tmp_path, text)
    with pytest.raises(InvalidSetting) as whole:
        load_settings({"home": tmp_path}, {})

    with pytest.raises(InvalidSetting) as found:
        load_client_settings({"home": tmp_path}, {})

    assert (found.value.message, found.value.detail) == (whole.value.message, whole.value.detail)
    assert [error.pointer[1:] for error in whole.value.errors] == [text.partition(" ")[0]]


def test_flag_of_none_and_empty_variable_were_not_given(tmp_path: Path) -> None:
    assert load_settings({"home": tmp_path, "port": None}, {"WEFT_PORT": "2"}).port == 2
    assert load_settings({"home": tmp_path}, {"WEFT_PORT": ""}).port == Settings().port


def test_home_is_absolute_and_comes_from_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)

    assert load_settings(environ={"WEFT_HOME": "here"}).home == tmp_path / "here"
    assert default_home({"WEFT_HOME": "~/x"}) == Path.home() / "x"


@pytest.mark.parametrize("data", [None, "", " ", "/data", "/data/"])
def test_the_default_home_is_the_one_that_platformdirs_says(
    data: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("XDG_DATA_HOME", raising=False)
    if data is not None:
        monkeypatch.setenv("XDG_DATA_HOME", data)

    assert default_home({}) == Path(platformdirs.user_data_dir("weft"))


def test_words_for_yes_and_no_and_units_of_sizes(tmp_path: Path) -> None:
    for text, value in (("true", True), ("1", True), ("no", False), ("FALSE", False)):
        environ = {"WEFT_DETACH_JOBS": text, "WEFT_BUNCH_BYTES_MAX": "8Mi"}
        settings = load_settings({"home": tmp_path}, environ)
        assert settings.detach_jobs is value
        assert settings.bunch_bytes_max == 8 * 2**20


def test_all_wrong_settings_are_told_at_once_with_their_origin(tmp_path: Path) -> None:
    """Those of plug-ins with the others."""
    _write(
        tmp_path,
        "heartbeat_s = 'soon'\nqueue = 'x'\nstream_bytes_max = '1'\nhost = ['a']\n"
        "worker_memory_bytes = 8",
    )

    environ = {"WEFT_PORT": "65536", "WEFT_LOG_LEVEL": "loud", "WEFT_DETACH_JOBS": "maybe"}
    with pytest.raises(InvalidSetting) as caught:
        load_settings({"home": tmp_path}, environ)
    found, wrong = explain_settings({"home": tmp_path}, environ)

    assert wrong is not None
    assert (wrong.errors, found["port"].where) == (caught.value.errors, "default")
    errors = {error.pointer: error.message for error in caught.value.errors}
    assert set(errors) == {
        "/heartbeat_s",
        "/queue",
        "/port",
        "/log_level",
        "/detach_jobs",
        "/stream_bytes_max",
        "/host",
        "/worker_memory_bytes",
    }
    assert "not a text: write all of it as one in quotes" in errors["/host"]
    assert 'has no unit: write "8Mi" or "8Gi"' in errors["/worker_memory_bytes"]
    assert "WEFT_PORT" in errors["/port"]
    assert "debug, info" in errors["/log_level"]


@pytest.mark.parametrize("content", [b"port = ", b"\xff"])
def test_file_that_is_no_toml_is_named(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "weft.toml").write_bytes(content)

    with pytest.raises(InvalidSetting) as caught:
        load_client_settings({"home": tmp_path}, {})

    assert str(tmp_path / "weft.toml") in caught.value.message


def test_plug_in_brings_a_section_of_its_own(tmp_path: Path) -> None:
    _write(tmp_path, "stream_head_bytes = '2Ki'")
    environ = {"WEFT_STREAM_BYTES_MAX": "8Mi"}

    settings = load_settings({"home": tmp_path}, environ)

    assert settings.section(FilesSettings) == FilesSettings(
        stream_bytes_max=8 << 20, stream_head_bytes=2048
    )
    assert load_settings({"home": tmp_path / "other"}, {}).section(FilesSettings) == (
        FilesSettings()
    )


def test_another_process_gets_the_same_settings(tmp_path: Path) -> None:
    settings = load_settings({"home": tmp_path, "port": 1}, {"WEFT_WARM_IDLE_S": "5"})

    assert load_settings(values_of(settings), {}) == load_settings(
        {**values_of(Settings()), "home": tmp_path, "port": 1, "warm_idle_s": 5}, {}
    )
    for one in all_declared().values():
        for value in filter(None, (one.default, one.minimum)):
            assert one.convert(one.text_of(value)) == value, one.name


def test_variable_that_is_nearly_a_setting_is_told_with_the_one_meant() -> None:
    given = {"WEFT_HEARTBEET_S": "5", "WEFT_PORT": "1", "WEFT_INDEX": "3", "HEARTBEAT_S": "1"}

    assert misspelt_variables(given) == {"WEFT_HEARTBEET_S": "WEFT_HEARTBEAT_S"}


def test_limits_are_named_where_they_refuse_with_how_they_are_set() -> None:
    files = {**product_files(".py"), **product_files(".sql")}
    texts = "".join(path.read_text() for path in files.values())
    texts = texts.replace("({name}_bytes_max)", "(stdin_bytes_max) (script_bytes_max)")
    named = {*sum(re.findall(r"\(`?(\w+)`?\)|(?:setting|raise) (\w+)", texts), ())}
    assert {one.name for one in declared_in(SubmissionSettings)} - named == set()
    scope, key = {"path": "/v1/batches", "state": {"trace_id": ""}}, AttemptKey(1, 1, 1)
    for name in [one for one in all_declared() if "_" in one]:
        told = json.loads(refusal_of(TooLarge("no", detail=f"At most 1 ({name})."), scope).body)
        ended = never_started(key, Reason.FILES, now_ns=0, message=f"more than 1 ({name})")
        for text in (told["hint"], end_report(ended, 0).message):
            assert f"set {name} in weft.toml ({variable_of(name)})" in text


ONE = {"dead_messages_mail", "log_bucket", "mail_from", "mail_server", "pooler", "secret_keys"}


@cases("one", [one for one in all_declared().values() if one.checks and one.name not in ONE])
def test_a_list_is_refused_with_an_example_that_is_taken(tmp_path: Path, one: Declared) -> None:
    example = re.findall(r" as `?([^`;\s]+, ?[^`;\s]+)", one.help)
    assert one.convert(example[0].rstrip(",")) == example[0]

    with pytest.raises(InvalidSetting) as caught:
        load_settings(None, {"WEFT_HOME": str(tmp_path), variable_of(one.name): ";\0 ="})
    assert one.help in caught.value.detail


def test_no_setting_is_declared_twice() -> None:
    assert len(all_declared()) == len(explain_settings({}, {})[0]) == len(values_of(Settings()))
