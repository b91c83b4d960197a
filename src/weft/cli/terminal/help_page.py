"""The pages that `--help` prints."""

import re
from typing import Any

_EXAMPLE_FIRST = re.compile(r"\n\n(?=(?:\S.* \| )?weft )")


class HelpPage:
    """What cyclopts prints, but with the first example as far from the edge as the next ones: its
    parser strips the text that follows the first sentence.

    cyclopts' own class is imported late, because it takes long and only pages need it.
    """

    def __call__(self, console: Any, options: Any, panel: Any) -> None:  # noqa: ANN401 (theirs)
        """Print a table of options."""
        self._default()(console, options, panel)

    def render_usage(self, console: Any, options: Any, usage: Any) -> None:  # noqa: ANN401
        """Print the line of usage."""
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
