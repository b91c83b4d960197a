"""Tab: what may stand where, and what a script is told, without a shell or a server."""

import asyncio
import json
import shutil
import subprocess
from pathlib import Path
from typing import Literal

import pytest

from cases import cases
from client.http_server import answer as answer_of
from client.http_server import serving
from weft.cli.app import all_commands, build_app, run_command
from weft.cli.commands.completion import completion
from weft.cli.completion.answer import harmless_words, option_of, print_completions, words_of
from weft.cli.completion.cursor import Cursor, cursor_of, read_commands
from weft.cli.completion.live_words import ask_server, number_query
from weft.cli.input.named import name_ids
from weft.core.errors import BadId

TABLE = read_commands()


@pytest.mark.slow
@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_script_is_accepted_and_the_same_either_way(
    shell: Literal["bash", "zsh", "fish"], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_command(["completion", shell]) == 0
    text = capsys.readouterr().out
    completion(shell)
    assert run_command(["completion", shell, "--json"]) == 0
    by_command, document = capsys.readouterr().out.rsplit("\n{", 1)

    assert text == f"{by_command}\n"
    assert json.loads("{" + document)["script"] == text.removesuffix("\n")
    program = shutil.which(shell)
    if program is not None:
        script = tmp_path / "script"
        script.write_text(text)
        subprocess.run([program, "-n", script], check=True)


def test_the_words_of_every_command_are_known() -> None:
    assert TABLE[""]["commands"] == all_commands()
    assert {"billing project show", "worker", "worker drain", "failures ack"} <= TABLE.keys()
    assert all("--help" in one["options"] for one in TABLE.values())


@cases(
    ("line", "asks"),
    [
        ("status ", "batches"),
        ("status b1 ", ""),
        ("status --limit 3 b", "batches"),
        ("status --limit ", ""),
        ("logs --grep x -f b", "batches"),
        ("jobs --state=failed b", "batches"),
        ("jobs b1 st", ""),
        ("cancel b1 b", "batches"),
        ("dag ", "batches"),
        ("timeline ", "batches"),
        ("worker drain ", "workers"),
        ("worker drain n1 n", "workers"),
        ("worker ", ""),
        ("billing project show ", "projects"),
        ("billing project create ", ""),
        ("run --queue ", "queues"),
        ("run --queue=de", "queues"),
        ("query rm ", "queries"),
        ("ls @", "@queries"),
        ("schedule pause ", "schedules"),
        ("condition test ", "conditions"),
        ("user rm ", "users"),
        ("user add ", ""),
        ("share b1 --with ", "users"),
        ("billing project members p --add ", "users"),
        ("quota set --tenant ", "tenants"),
        ("login --tenant ", ""),
        ("token revoke ", "tokens"),
        ("session rm ", "sessions"),
        ("operation cancel ", "operations"),
        ("run --secret ", "secrets"),
        ("submit --machine ", "flavours"),
        ("cancel --batches ", "@queries"),
        ("run -- cancel ", ""),
        ("run cancel ", ""),
        ("status -- b", "batches"),
        ("nonsense ", ""),
        ("status -", ""),
        ("", ""),
        ("sta", ""),
    ],
)
def test_the_server_is_asked_only_for_what_it_knows(line: str, asks: str) -> None:
    assert cursor_of(line.split(" "), TABLE).asks == asks


@cases(
    ("line", "word"),
    [
        ("sta", "status"),
        ("billing project ", "show"),
        ("failures ", "ack"),
        ("status --", "--watch"),
        ("dag b1 --format ", "svg"),
        ("dag b1 --format=", "svg"),
        ("completion ", "zsh"),
        ("signal b1.j1 ", "USR1"),
        ("block --tester ", "tcp"),
        ("up --log-level ", "warning"),
    ],
)
def test_words_of_commands_are_offered(line: str, word: str) -> None:
    assert word in cursor_of(line.split(" "), TABLE).words


@cases(
    ("line", "left"),
    [
        ("submit ", "files"),
        ("submit --file ", "files"),
        ("dag b1 --output=", "files"),
        ("queue apply ", "files"),
        ("run ", "command 1"),
        ("run -- ", "command 2"),
        ("run --queue big --json -- ls -l ", "command 5"),
        ("each --jobs 4 gzip ", "command 3"),
        ("run -", ""),
        ("status b1 ", ""),
    ],
)
def test_files_and_programs_are_left_to_the_shell(line: str, left: str) -> None:
    assert cursor_of(line.split(" "), TABLE).left == left


def answer(capsys: pytest.CaptureFixture[str], *words: str) -> list[str]:
    print_completions(words)
    return capsys.readouterr().out.splitlines()


def test_each_shell_is_answered_in_its_own_way(capsys: pytest.CaptureFixture[str]) -> None:
    sentence = all_commands()["status"]

    assert answer(capsys, "zsh", "statu") == ["words", f"status\t{sentence}"]
    assert answer(capsys, "fish", '"statu') == ["words", f"status\t{sentence}"]
    assert answer(capsys, "bash", "weft statu", "statu") == ["words", "status"]
    assert answer(capsys, "zsh", "dag", "b1", "--format=s") == ["words", "--format=svg"]
    # Bash takes a word apart at `=`, and replaces what stands behind it.
    assert answer(capsys, "bash", "weft dag b1 --format=s", "s") == ["words", "svg"]
    assert answer(capsys, "bash", "weft dag b1 --format=", "") == [
        "words",
        "mermaid",
        "dot",
        "svg",
    ]
    assert answer(capsys, "bash", "weft submit j", "j") == ["files"]
    assert answer(capsys) == answer(capsys, "zsh")


@cases(
    ("line", "last", "quote"),
    [
        ("weft status b1/a\\ b", "b1/a b", ""),
        ("weft status 'b1/a b", "b1/a b", "'"),
        ('weft status "b1/a b', "b1/a b", '"'),
        ("weft status b1/a\\", "b1/a", ""),
        ("weft status ", "", ""),
        ("weft status it's", "its", "'"),
        ("", "", ""),
    ],
)
def test_a_line_is_read_as_bash_reads_it(line: str, last: str, quote: str) -> None:
    words, found = words_of(line)

    assert (words[-1], found) == (last, quote)


def test_words_that_a_shell_would_read_are_not_offered() -> None:
    names = [
        "b1/a",
        "b1/a b",
        "b1/$(x)",
        "b1/`x`",
        "b1/a;b",
        "b1/a\n",
        "b1/a ",
        "b1/a'b",
        "b1/a\tb",
        "-rf",
        "b1/\x1b[2J",
        "b2/a",
    ]
    found = dict.fromkeys(names, "a\tb\n\x1b[2Jc" + "x" * 100)
    offered = harmless_words(found, Cursor("b1/"))

    assert [*offered] == ["b1/a", "b1/a b"]
    assert {*offered.values()} == {("a b⏎\ufffd[2Jc" + "x" * 100)[:59] + "…"}
    assert "-rf" not in harmless_words(found, Cursor(""))


@pytest.mark.parametrize(
    ("words", "home"),
    [
        ("status --home=/a b", "/a"),
        ("status --home /a b", "/a"),
        ("status --home ", None),
        ("status $H b", None),
        ("status --home $H/x b", "/somewhere/x"),
        ("status --home ~/x b", "/somewhere/x"),
    ],
)
def test_the_server_is_that_of_the_line(
    words: str, home: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("H", "/somewhere")
    monkeypatch.setenv("HOME", "/somewhere")

    assert option_of("--home", words.split(" ")) == home


@pytest.mark.parametrize(
    ("line", "visit"),
    [
        ("status --visit acme b", "acme"),
        ("status --visit=acme b", "acme"),
        ("user rm --visit acme ", "acme"),
        ("status --visit ac", ""),
        ("status b", None),
    ],
)
async def test_words_are_those_of_the_tenant_that_is_visited(
    line: str,
    visit: str | None,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The tenants of the site are asked for without a visit, which does not show them."""
    async with serving(answer_of(200, b'{"items": [], "cursor": null}')) as server:
        monkeypatch.setenv("WEFT_URL", server.url)
        monkeypatch.setenv("WEFT_TOKEN", "t")
        monkeypatch.setenv("WEFT_VISIT", "of-the-shell")
        await asyncio.to_thread(print_completions, ["zsh", *line.split(" ")])

    (request,) = server.requests
    assert request.headers.get("x-weft-visit", "") == ("of-the-shell" if visit is None else visit)
    assert capsys.readouterr().out == "words\n"


@pytest.mark.parametrize(("digits", "is_found"), [("1", {1, 12, 199}), ("", {1, 2, 12, 21, 199})])
def test_numbers_are_found_by_their_first_digits(digits: str, is_found: set[int]) -> None:
    query = number_query(digits)
    numbers = {1, 2, 12, 21, 199}
    if query is not None:
        numbers = {one for one in numbers if eval(query.replace(" = ", " == "), {"job_id": one})}  # noqa: S307 (our own text)

    assert numbers == is_found


@pytest.mark.parametrize(
    ("kind", "answered", "words"),
    [
        ("sessions", [{"session_id": 7, "browser": "Firefox"}], {"7": "Firefox"}),
        (
            "operations",
            [
                {"id": 3, "batch_id": None, "state": "running", "result": {"action": "cancel"}},
                {"id": 2, "batch_id": None, "state": "success", "result": {"action": "hold"}},
                {"id": 1, "batch_id": 9, "state": "running", "result": None},
            ],
            {"3": "cancel batches"},
        ),
        (
            "flavours",
            [
                {"pool": "a", "plan": {"name": "a", "flavours": [{"name": "large"}]}},
                {"pool": "b", "plan": None},
            ],
            {"large": "pool a"},
        ),
    ],
)
async def test_what_the_server_lists_becomes_words(
    kind: str,
    answered: list[object],
    words: dict[str, str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    page = json.dumps({"items": answered, "cursor": None}).encode()
    async with serving(answer_of(200, page)) as server:
        monkeypatch.setenv("WEFT_URL", server.url)
        monkeypatch.setenv("WEFT_TOKEN", "t")
        found = await asyncio.to_thread(ask_server, kind, "", home=str(tmp_path), visit=None)

    assert found == words


async def test_each_argument_that_takes_an_id_takes_a_name(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Found by what Tab offers: all arguments and options whose values are batches."""
    app = build_app()
    calls = []
    for path, one in TABLE.items():
        named = ["nightly/a" if kind == "batches" else "1" for kind in one["arguments"]]
        options = ["--batch=nightly"] * ("--batch" in one["options"])
        if "nightly/a" in named or options:
            needed = [
                f"{name}=1" for name in ("--note", "--by", "--with") if name in one["options"]
            ]
            calls.append([*path.split(), *named, *options, *needed])
    newest = b'{"items": [{"id": 42}], "cursor": null}'
    nothing = b'{"items": [], "cursor": null}'
    async with serving(
        lambda asked: answer_of(200, newest if "name=nightly&" in asked.target else nothing)
    ) as server:
        monkeypatch.setenv("WEFT_URL", server.url)
        monkeypatch.setenv("WEFT_TOKEN", "t")
        for words in calls:
            _, bound, _ = app.parse_args(words)
            await asyncio.to_thread(name_ids, bound)

            assert "nightly" not in repr(bound.arguments), words
            assert "b42" in repr(bound.arguments), words
        with pytest.raises(BadId, match="'hourly' is not an id"):
            await asyncio.to_thread(name_ids, app.parse_args(["wait", "b1", "hourly"])[1])
