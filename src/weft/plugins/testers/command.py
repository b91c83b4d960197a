"""The tester `command`: passed when a program that the operator named ends with 0.

Jobs name it and pass nothing to it: it runs with the rights of the driver.
"""

import subprocess
from collections.abc import Mapping

from weft.core.ends.conditions import MESSAGE_CHARS_MAX, Tested
from weft.core.ends.end_words import signal_name
from weft.ports.tester import StillBlocked, TesterSite


class CommandTester:
    """Runs one program of the setting `tester_commands`; its first line is the message."""

    parameters = ("name",)
    optional = ()

    def test(self, parameters: Mapping[str, str], site: TesterSite) -> Tested:
        """Look once."""
        name = parameters["name"]
        program = site.commands.get(name)
        if program is None:
            raise StillBlocked(f"there is no command {name[:40]!r} in the setting tester_commands")
        try:
            process = subprocess.Popen(
                [program],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                cwd="/",
            )
        except OSError as error:
            raise StillBlocked(f"the command {name}: {error.strerror}") from error
        with process:
            assert process.stdout is not None
            line = process.stdout.readline(MESSAGE_CHARS_MAX)
            while process.stdout.read(1 << 16):
                pass
        said, code = line.decode(errors="replace").strip(), process.returncode
        if code < 0:
            said = f"{said}, killed by {signal_name(-code)}".removeprefix(", ")
        return Tested(passed=code == 0, message=f"{name}: {said or f'exit code {code}'}")
