"""The options that a pool has for the provider `slurm`."""

import shlex
from collections.abc import Mapping
from typing import Final

from weft.core.pools.pool import Option
from weft.plugins.providers.pool_options import wrong_usual
from weft.ports.provider import ProviderError, WantedMachine

WORDS: Final = ("partition", "account", "qos", "constraint", "reservation")
"""Each is the option of sbatch of this name."""
TEXTS: Final = frozenset({*WORDS, "options", "program"})
SUBMISSIONS_PER_S: Final = 5.0
_OURS: Final = (
    "-J", "--job-name", "-t", "--time", "--time-min", "-o", "--output", "-e", "--error", "-a",
    "--array", "--requeue", "--signal", "--export", "-D", "--chdir", "--parsable", "--wrap",
)  # fmt: skip
"""Options of sbatch that say how a pilot works, and are not the pool's."""
_OWN_MIB: Final = 256
"""What a worker needs beside its jobs."""


def wrong_options(options: Mapping[str, Option]) -> Mapping[str, str]:
    """Return what is wrong with the options of a pool, as far as it shows without Slurm."""
    wrong = wrong_usual("slurm", options, TEXTS, "on the nodes", more={"submissions_per_s"})
    rate = options.get("submissions_per_s", SUBMISSIONS_PER_S)
    if isinstance(rate, bool) or not isinstance(rate, int | float) or not 0.1 <= rate <= 1000:  # noqa: PLR2004 (bounds)
        wrong["submissions_per_s"] = "expected a number from 0.1 to 1,000"
    try:
        words = shlex.split(str(options.get("options", "")))
    except ValueError as error:
        wrong["options"] = f"cannot be read as words of a command: {error}"
    else:
        ours = [word for word in words if word.partition("=")[0] in _OURS]
        if ours or any(not word.startswith("-") for word in words):
            wrong["options"] = (
                f"{ours[0]} is not the pool's to say" if ours else "write each as --name=value"
            )
    return wrong


def submission_words(machine: WantedMachine) -> list[str]:
    """Return what sbatch is told of a pilot. Raise `ProviderError` if its flavour never ends."""
    flavour, options = machine.flavour, machine.options
    if not flavour.walltime_s:
        raise ProviderError(
            f"flavour {flavour.name} has no walltime_s: Slurm ends pilots, so weft must know when"
        )
    own = {name: str(options[name]) for name in WORDS if name in options}
    if machine.region:
        own["partition"] = machine.region
    return [
        f"--time={flavour.walltime_s // 60}",
        f"--cpus-per-task={-(-flavour.cpu_m // 1000)}",
        f"--mem={flavour.memory_mib + _OWN_MIB}M",
        *([f"--gpus={flavour.gpus}"] if flavour.gpus else []),
        *(f"--{name}={word}" for name, word in own.items()),
        *shlex.split(str(options.get("options", ""))),
    ]
