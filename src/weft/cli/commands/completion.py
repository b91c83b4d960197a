"""`weft completion`: what a shell needs to complete a command line."""

from weft.cli.completion.scripts import Shell, script_of
from weft.cli.input.options import LOCAL, Local


def completion(shell: Shell, /, *, shared: Local = LOCAL) -> None:
    """Print the script that lets a shell complete weft's commands and options, and from the server
    batches, jobs, groups, workers, queues, pools, conditions, billing projects and saved queries.
    Source it in the start-up file of bash or zsh; in fish, pipe it into `source`.

        weft completion bash

    Args:
        shell: The shell.
    """
    script = script_of(shell)
    shared.tell({"shell": shell, "script": script}, script, print)
