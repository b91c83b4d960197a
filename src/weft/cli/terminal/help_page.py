"""The pages that `--help` prints."""

import re
from collections.abc import Mapping
from typing import Any, Final

_EXAMPLE_FIRST = re.compile(r"\n\n(?=(?:\S.* \| )?weft )")

_OPTIONS: Final[Mapping[str, str]] = {
    "TIME": """--timeout --expires --deadline --not-before --since --until --boot --by --from
        --retry-wait --delay""",
    "SIZE": "--memory --storage --worker-memory --bytes",
    "CORES": "--cpu --cores --worker-cpu",
    "KEY=VALUE": "--attribute --param --label",
    "NAME=VALUE": "--env",
    "URL": "--connect --database --issuer",
    "KEY=N/PERIOD": "--rate",
    "KEY=N": "--concurrency-key",
    "QUERY": "--q",
    "PATTERN": "--grep --no-env",
    "CODES": "--exit-codes --external-errors",
    "NAME": """--admin --batch --billing-project --for --group --key --machine
        --name --move-to --pool --project --queue --runner --secret --secret-file --tenant --user
        --visit --with --worker-name""",
}
_WORD_OF: Final = {option: word for word, names in _OPTIONS.items() for option in names.split()}
_WORD_OF_TYPE: Final = {"STR": "TEXT", "INT": "N", "FLOAT": "NUMBER", "DATETIME": "TIME"}
_TYPED: Final = re.compile(rf"(--[\w-]+) ({'|'.join(_WORD_OF_TYPE)})\b")


def _word(option: str, kind: str) -> str:
    return _WORD_OF.get(option, _WORD_OF_TYPE[kind])


def _named(entry: Any) -> Any:  # noqa: ANN401 (cyclopts' own)
    """Return a row of a table with a word for its value that says how it is written."""
    words = (entry.metavar or "").split("...")
    if words[0] not in _WORD_OF_TYPE:
        return entry
    words[0] = _word(next(iter(entry.names), ""), words[0])
    from attrs import evolve  # noqa: PLC0415 (with cyclopts, late)

    return evolve(entry, metavar="...".join(words))


class HelpPage:
    """What cyclopts prints, but with the first example as far from the edge as the next ones: its
    parser strips the text that follows the first sentence. Values of options are named as people
    write them.

    cyclopts' own class is imported late, because it takes long and only pages need it.
    """

    def __call__(self, console: Any, options: Any, panel: Any) -> None:  # noqa: ANN401 (theirs)
        self._default()(console, options, panel.copy(entries=[*map(_named, panel.entries)]))

    def render_usage(self, console: Any, options: Any, usage: Any) -> None:  # noqa: ANN401
        """Print the line of usage."""
        if usage:
            usage.plain = _TYPED.sub(
                lambda match: f"{match[1]} {_word(*match.groups())}", usage.plain
            )
        self._default().render_usage(console, options, usage)

    def render_description(self, console: Any, options: Any, description: Any) -> None:  # noqa: ANN401
        """Print what the command does, with its examples."""
        if description:
            text = description.primary_renderable
            text.plain = _EXAMPLE_FIRST.sub("\n\n    ", text.plain)
        self._default().render_description(console, options, description)

    def _default(self) -> Any:  # noqa: ANN401
        from cyclopts.help.formatters import DefaultFormatter  # noqa: PLC0415

        return DefaultFormatter()
