from cases import cases
from weft.core.access.secret_variables import MASK, is_masked, masked, patterns_of
from weft.settings import Settings


@cases(
    "name",
    [
        "GITHUB_TOKEN", "AWS_SECRET_ACCESS_KEY", "AWS_ACCESS_KEY_ID", "PGPASSWORD", "api_key",
        "SSH_PASSPHRASE", "GOOGLE_CREDENTIALS", "DB_PASS", "OPENAI_API_KEY", "SESSION_COOKIE",
    ],
)  # fmt: skip
def test_names_of_secrets_are_masked(name: str) -> None:
    patterns = patterns_of(Settings().masked_env)

    assert masked({name: "hunter2"}, patterns) == {name: MASK}


@cases("name", ["PATH", "HOME", "KEYBOARD", "MONKEY", "PWD", "OLDPWD", "LANG"])
def test_other_names_are_not(name: str) -> None:
    patterns = patterns_of(Settings().masked_env)

    assert masked({name: "/x"}, patterns) == {name: "/x"}


def test_a_url_loses_its_password_whatever_the_name() -> None:
    shown = masked({"DATABASE_URL": "postgres://ada:hunter2@db:5432/x", "A": "http://h/a:b@c"}, ())

    assert shown == {"DATABASE_URL": f"postgres://ada:{MASK}@db:5432/x", "A": "http://h/a:b@c"}
    assert is_masked(shown["DATABASE_URL"])


def test_empty_values_stay_empty() -> None:
    assert masked({"MY_TOKEN": ""}, ("*TOKEN*",)) == {"MY_TOKEN": ""}


def test_patterns_may_have_spaces_and_gaps() -> None:
    assert patterns_of(" A* ,, b? ") == ("A*", "b?")
    assert masked({"a1": "x", "B2": "x", "c": "x"}, patterns_of("A*,b?"))["c"] == "x"
