"""`weft siege`: faults from a seed, and what they broke."""

import asyncio
import random
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from weft.cli.input.options import LOCAL, Flag, Local
from weft.cli.terminal.screen import note, print_table
from weft.core.errors import Invalid
from weft_siege.attack import Attack
from weft_siege.broker import Broker
from weft_siege.bucket import Bucket
from weft_siege.clocks import Clocks
from weft_siege.disk import Disk
from weft_siege.faults import Fault, plan_faults
from weft_siege.fortress import Fortress
from weft_siege.slurm import Slurm

SEEDS = 1_000_000
SENTENCES_SHOWN = 10
MINUTES_MAX = 1440
WORKERS_MAX = 50


def siege(
    *,
    minutes: float = 1.0,
    seed: int | None = None,
    workers: int = 3,
    standby: Flag = False,
    broker: str | None = None,
    disk: Path | None = None,
    bucket: str | None = None,
    endpoint: str | None = None,
    clocks: Path | None = None,
    slurm: Path | None = None,
    other: Path | None = None,
    schedule: Flag = False,
    shared: Local = LOCAL,
) -> int:
    """Start a weft of its own, attack it for some minutes, and prove that nothing is lost, lives
    twice or is left over; exit code 1 if something is.

        weft siege --minutes 3 --seed 7

    Every few seconds one of its processes is killed, stopped or restarted, while
    jobs run. Nothing outside is touched, but a cgroup that root makes.

    Args:
        minutes: How long faults come; it ends when all jobs have.
        seed: The same number brings the same faults at the same times (default: any).
        workers: How many workers there are.
        standby: PostgreSQL has a synchronous standby, which takes over from a primary for good.
        broker: A queue travels over this RabbitMQ, by a wire that fails, and stays there:
            amqp://guest:guest@HOST:5672.
        disk: The siege lives in this directory, a file system of its own, and fills it.
        bucket: Jobs leave files in this bucket of S3, by a wire that fails: s3://NAME.
        endpoint: The server of the bucket, if it is not that of AWS.
        clocks: The library of faketime, …/libfaketimeMT.so.1, by which clocks of roles are turned.
        slurm: Jobs run in the Slurm of this configuration, whose controller, on this host, fails.
        other: A Python with the previous or next release of weft, of which roles are at times.
        schedule: Print the faults of the seed, and attack nothing.
    """
    _refuse_too_much(minutes, workers)
    seed = random.SystemRandom().randrange(SEEDS) if seed is None else seed
    names = ("standby", "broker", "disk", "bucket", "clocks", "slurm", "other")
    values = (standby, broker, disk, bucket, clocks, slurm, other)
    also = [name for name, value in zip(names, values, strict=True) if value]
    faults = plan_faults(seed, seconds=minutes * 60, workers=workers, also=also)
    if not shared.json:
        n = " --".join([str(workers), *also])
        note(f"--minutes {minutes:g} --seed {seed} --workers {n}: {len(faults)} faults")
    if schedule:
        return shared.tell([one._asdict() for one in faults], "\n".join(map(_line, faults)), print)
    room = Disk(disk) if disk else None
    base = Path(tempfile.mkdtemp(prefix="weft-siege-", dir=disk))
    fortress = Fortress(
        base / "home",
        workers,
        standby=standby,
        disk=room,
        other=other,
        broker=Broker(broker, base) if broker else None,
        bucket=Bucket(bucket, endpoint).opened() if bucket else None,
        clocks=Clocks(clocks, base) if clocks else None,
        slurm=Slurm(slurm, base) if slurm else None,
    )
    return _attack(fortress, faults, seed, shared)


def _attack(fortress: Fortress, faults: Sequence[Fault], seed: int, shared: Local) -> int:
    base = fortress.home.parent
    tell = (lambda _fault, _met: None) if shared.json else _print_fault
    attack = Attack(fortress, faults, seed, tell)
    try:
        wrong = asyncio.run(attack.run())
    except BaseException:
        note(f"the siege did not come to its end; logs and records are kept in {base}")
        raise
    facts = {"seed": seed, "faults": len(faults), **attack.facts}
    if not _report(facts, wrong, shared):
        note(f"logs and records are kept in {base}")
        return 1
    shutil.rmtree(base, ignore_errors=True)
    return 0


def _refuse_too_much(minutes: float, workers: int) -> None:
    if not (0 < minutes <= MINUTES_MAX and 0 < workers <= WORKERS_MAX):
        raise Invalid(
            f"a siege takes more than 0 and up to {MINUTES_MAX} minutes, and 1 to {WORKERS_MAX} "
            "workers",
            detail=f"It was asked for {minutes:g} minutes and {workers} workers.",
            hint="`--minutes 3 --workers 3` is a good beginning.",
        )


def _report(facts: Mapping[str, float], wrong: Mapping[str, Sequence[str]], shared: Local) -> bool:
    """Print what was found; say whether all held."""
    counts = {name: len(sentences) for name, sentences in wrong.items()}
    if not shared.as_json({**facts, "counts": counts, "wrong": wrong}):
        print_table(("Count", "Number"), [*facts.items(), *counts.items()])
        for name, sentences in wrong.items():
            for sentence in sentences[:SENTENCES_SHOWN]:
                print(f"{name}: {sentence}")
    return not any(counts.values())


def _print_fault(fault: Fault, met: bool) -> None:  # noqa: FBT001 (the shape of `tell`)
    print(_line(fault) + ("" if met else "  (was down)"), flush=True)


def _line(fault: Fault) -> str:
    lasting = f" for {fault.lasts_s} s" if fault.lasts_s else ""
    return f"{fault.at_s:7.1f} s  {fault.act:8} {fault.target}{lasting}"
