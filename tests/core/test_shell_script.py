"""Hostile lines within the script of a shell."""

import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from weft.core.text.shell_script import Unsafe, script_words
from weft.wire.spec import JobSpec, spec_at, unsafe_value
from weft_each.rules.input_lines import CommandTemplate

PLACES = (
    "printf '%s\\0' {}",
    "printf '%s\\0' \"{}\"",
    "printf '%s\\0' '{}'",
    "printf '%s\\0' a{}b",
    "printf '%s\\0' \"it's {}\" | cat",
    "printf '%s\\0' '\"'{}'\"'",
    'printf "%s\\0" "\\"{}"',
    "x=$(true) y=${HOME}; printf '%s\\0' {}",
    "x=\"$(true)\"; printf '%s\\0' \"{}\"; printf '%s\\0' {}",
)
OPEN = (
    "echo $(printf '%s' {})",
    'echo "$(printf %s {})"',
    "echo `printf %s {}`",
    "echo $(( {} + 1 ))",
    "((x = {})); echo $x",
    "cat <<E\n{}\nE",
    "cat <<'E'\n{}\nE",
    "echo a # {}",
    "echo ${}",
    'echo "${}"',
    "echo ${x:-{}}",
    "echo $'{}'",
    "eval echo {}",
    "sh -c 'echo {}'",
    'bash -ec "echo {}"',
    'echo "$(case x in x) echo {};; esac)"',
    "echo \\{}",
)
HOSTILE = (
    ";touch PWNED;",
    "$(touch PWNED)",
    "`touch PWNED`",
    "';touch PWNED;'",
    '";touch PWNED;"',
    "\ntouch PWNED\n",
    "a' 'b",
    "$HOME",
    "a\\",
    "(touch PWNED)",
    "a[$(touch PWNED)]",
    "E\ntouch PWNED",
    "}; touch PWNED; {",
    " * ? [a] ~ {a,b} !! #",
    "|touch PWNED",
    "& touch PWNED",
    "",
    "é \udc80",
)
SHELLS = [name for name in ("sh", "bash", "zsh", "ksh") if shutil.which(name)]


def ran(shell: str, script: str, value: str, directory: Path) -> bytes:
    command = CommandTemplate((shell, "-c", script)).render([value], 1)
    done = subprocess.run(
        [one.encode("utf-8", "surrogateescape") for one in command],
        cwd=directory,
        capture_output=True,
        check=False,
        stdin=subprocess.DEVNULL,
    )
    assert not [*directory.iterdir()], (script, value)
    return done.stdout


VALUES = st.one_of(
    st.sampled_from(HOSTILE),
    st.lists(
        st.sampled_from([*"'\"\\`$(){}[]<>;&|#*?~! \n\tab=", "touch PWNED", "$("]), max_size=12
    ).map("".join),
)


@pytest.mark.slow
@pytest.mark.parametrize("shell", SHELLS)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.sampled_from(PLACES), VALUES)
@example("printf '%s\\0' \"{}\"", "\\")
def test_a_line_stays_the_text_that_it_is(
    shell: str, tmp_path: Path, script: str, value: str
) -> None:
    raw = value.encode("utf-8", "surrogateescape")
    for one in ran(shell, script, value, tmp_path).split(b"\0")[:-1]:
        assert raw in one


PLACES_OF_ARRAYS = ("{value}", "$WEFT_ARRAY_VALUE", "${WEFT_ARRAY_VALUE}")


def of_array(script: str, value: str, shell: str = "sh") -> tuple[str, ...]:
    command = spec_at(JobSpec(command=(shell, "-c", script)), 3, value).command
    assert command is not None
    return command


@pytest.mark.slow
@pytest.mark.parametrize("written", PLACES_OF_ARRAYS)
@pytest.mark.parametrize("place", PLACES)
def test_hostile_values_of_arrays_run_nothing(tmp_path: Path, place: str, written: str) -> None:
    place = place.replace("a{}b", "a{}-b").replace("{}", written)
    for value in (one for one in HOSTILE if "\udc80" not in one):
        assert unsafe_value(("sh", "-c", place), [value]) is None
        for shell in SHELLS:
            done = subprocess.run(
                of_array(place, value, shell),
                cwd=tmp_path,
                capture_output=True,
                check=True,
                env={"PATH": "/usr/bin:/bin", "WEFT_ARRAY_VALUE": value},
                stdin=subprocess.DEVNULL,
            )
            assert value.encode() in done.stdout
            assert not [*tmp_path.iterdir()], (place, value)


@pytest.mark.parametrize("script", OPEN)
def test_values_of_arrays_are_refused_where_quotes_do_not_tell(script: str) -> None:
    """Where the variable stands a shell reads it itself; plain values are filled in anywhere."""
    for value in HOSTILE:
        own = script.replace("{}", "{value}")
        assert unsafe_value(("sh", "-c", own), ["plain", value]) == value
        for written in PLACES_OF_ARRAYS[1:]:
            command = of_array(own.replace("{value}", written), value)
            assert command[2] == own.replace("{value}", written)
    for written in PLACES_OF_ARRAYS:
        assert of_array(script.replace("{}", written), "a/b.txt")[2] == script.replace(
            "{}", "a/b.txt"
        )


@pytest.mark.parametrize("value", HOSTILE)
@pytest.mark.parametrize("script", OPEN)
def test_where_quotes_do_not_tell_it_is_refused(script: str, value: str) -> None:
    for plain in ("12", "a/b.txt"):
        filled = CommandTemplate(("sh", "-c", script)).render([plain], 1)[2]
        assert filled == script.replace("{}", plain)
    with pytest.raises(Unsafe, match=r"sh \{\}"):
        CommandTemplate(("sh", "-c", script)).render([value], 1)


@pytest.mark.slow
@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("value", HOSTILE)
def test_hostile_lines_run_nothing(tmp_path: Path, place: str, value: str) -> None:
    for shell in SHELLS:
        assert value.encode("utf-8", "surrogateescape") in ran(shell, place, value, tmp_path)


def test_a_script_is_found_wherever_it_stands() -> None:
    for words, at in {
        "sh -c S": 2,
        "/bin/bash -lc S sh {}": 2,
        "bash -euo pipefail -c S": 4,
        "bash -o pipefail -ec S": 4,
        "bash --rcfile F -c -e S": 5,
        "bash -c -- S": 3,
        "timeout 5 sh -c S": 4,
        "env A=1 zsh -c S": 4,
        "fish -c S": 2,
        "su ann -c S": 3,
        "flock lock -c S": 3,
    }.items():
        assert {*script_words(words.split())} == {at}, words
    for words in ("sh S", "sh -e S", "echo -c S", "python -c S", "sh -c", "bash --norc S"):
        assert script_words(words.split()) == {}, words


def test_other_words_and_whole_scripts_are_filled_in_as_they_are() -> None:
    line = "a b; c"
    assert CommandTemplate(("sh", "-c", "{}")).render([line], 1) == ["sh", "-c", line]
    assert CommandTemplate(("cp", "{}", "{}.bak")).render([line], 1) == ["cp", line, f"{line}.bak"]
    assert CommandTemplate(("sh", "-c", 'echo "$1"', "sh", "{}")).render([line], 1)[-1] == line
    with pytest.raises(Unsafe):
        CommandTemplate(("fish", "-c", "echo {}")).render([line], 1)
