"""Measure what weft promises, beside what `weft bench` compares: `make bench NAME=storm`.

Each proves one acceptance: docs/performance-method.md says what they measure, docs/performance.md
has the figures.
"""

import argparse
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from benches import queues
from benches.peers.sides import PEERS
from weft.bench.main import run_bench
from weft.bench.plan import BenchPlan
from weft.cli.commands.bench import print_result, progress_of
from weft.cli.terminal.interrupts import INTERRUPTED
from weft.cli.terminal.screen import print_json, print_table

BENCHES: Mapping[str, str] = {
    "arrays": "1,000,000 jobs of one array, beside INSERT ... SELECT of bare rows",
    "hail": "100,000 jobs of Hail's client, beside the same client with a stub",
    "groups": "claims and completions with 1, 3 and 6 groups per job",
    "huge": "reading a batch of 16,000,000 jobs, beside one of 1,000",
    "dag": "a scatter of 100,000 jobs and a gather, beside one UPDATE",
    "cancel": "cancel of 1,000,000 jobs that run, and the batch behind them",
    "simulate": "three months of a recorded workload, beside real time",
    "idle": "a minute without work: statements, time, memory",
    "command-start": "starts of `weft ls`, `submit` and others, beside `python -c pass`",
    "commands": "signals to a running job while its agent is busy, beside none else",
    "exec": "a command beside a running job until its first byte, here and far away",
    "progress": "jobs beside 100 that tell their progress 1,000 times a second",
    "points": "fault points that are off, beside weft without them: CPU of each job",
    "unique": "submissions with a key among 1,000,000 keys, beside those without",
    "shares": "ends of 100,000 parents of a share, beside parents that all must succeed",
    "commit": "commit of 1,000,000 jobs, beside one of 1,000",
    "writers": "four processes completing jobs of one group, beside four groups",
    "function-costs": "what each function of the database takes of a claim and an end",
    "gates": "half of 100,000 jobs waiting for 1,000 concurrency keys, beside none",
    "release": "100,000 jobs blocked on one condition, when its test passes",
    "incidents": "10,000 conditions at once, each tested when it is due",
    "failures": "1,000,000 jobs that fail for three causes, beside jobs that succeed",
    "retry": "a retry of 100,000 failed jobs among 1,000,000, until all are ready",
    "claim-many": "claims among 10,000 users and 100 queues, beside one of each",
    "claim-pinned": "claims while a transaction stays open, beside claims without it",
    "pinned": "an hour of no-op jobs while a session holds a snapshot, beside none; --minutes 4",
    "soak": "an hour at full rate: slopes of memory, files, connections, disk; --minutes 6",
    "claimers": "64 claimers at once, beside the number that does best",
    "growth": "each call beside 10,000 to 1,000,000 jobs; --jobs 10000000: one size more",
    "grown": "claims beside 10,000,000 finished jobs, and beside 10,000",
    "fairness": "shares of five users with unequal backlogs, and a late user's first start",
    "autoscale": "a round of the autoscaler over 1,000,000 ready jobs",
    "fleet": "1,000 workers on one database: heartbeats, and jobs that come for them",
    "connect": "100 workers by the link, beside 100 direct ones: rate, CPU, pages",
    "connect-processes": "processes of a linked worker, also far away, beside a direct one",
    "forecast": "90 % intervals of drawn and of recorded batches and jobs, and how many hold",
    "logs": "output of 200 jobs on its way to a follower and to a bucket, and its objects",
    "staging": "jobs with an input that all have and one of their own, beside curl",
    "visibility-pairs": "what another tenant has, beside what does not exist, on every route",
    "tenants": "one of 10,000 tenants with 10 users each, beside a tenant alone",
    "storm": "requests beside a tenant that sends ten times as many as it may, and without it",
    "evaluated": "reads beside a tenant whose texts cost what evaluates them, and without it",
    "limit": "1,000 running jobs whose project reaches its limit, beside the cost of a tick",
    "revoke": "a revoked token, role, user or session, until two apis refuse it",
    "trail": "entries of the trail until they are sealed, and their writers without that",
    "jwt": "JSON web tokens of each algorithm, verified with the keys at hand",
    "rabbitmq": "processes over RabbitMQ, beside PostgreSQL alone and beside Celery",
    "kafka": "processes over Kafka, beside PostgreSQL alone",
    "kafka-parallel": "records of one partition, many at once, beside one at a time",
    "events-out": "events after an outage to a topic of Kafka, beside the goal",
    "watermark": "records of a partition that are done in random order, per second",
    "simulations": "simulated jobs without a step, and 10,000 that sleep at once",
    "doors": "jobs by the doors of JobWeaver and Agave, one a request, beside `/v1`, and pages",
    "items": "items of a source that become jobs, in series, beside plain jobs, and known ones",
    "status": "changes of statuses by claims and ends, beside the core without them",
    "deliveries": "messages of a sink to a listener, beside their sender in a loop",
    "notify": "jobs by the door of Agave with three subscriptions each, beside none",
    "slurm": "2,000 `/bin/true` through a gateway to Slurm, beside calls of sbatch (root)",
    "slurm-pilot": "jobs in a pilot of Slurm's, beside a linked worker and beside srun (root)",
    "nomad": "500 `/bin/true` through a gateway to Nomad, beside a loop of its client",
    "kubernetes": "500 `/bin/true` through a gateway to Kubernetes, beside kubectl in a loop",
    "ray": "500 `/bin/true` through a gateway to Ray, beside a loop of its client",
    "watch": "10,000 attempts in Slurm, which is stubbed: commands a second, memory, delay",
    "worlds": "tasks by joblib, PSI/J, Parsl and Snakemake, each beside another executor",
    "peers": "weft beside Celery, RQ, Procrastinate and others: work, memory, kill -9",
    "queues": "queues on one PostgreSQL, killed, restarted, pinned, overloaded; --minutes 12",
    "pages": "every page of 100,000 batches and 1,000,000 jobs, by HTTP and in Chromium",
}
"""Name of the module that measures it, with dashes, and what it asks."""
PARTS: Mapping[str, Sequence[str]] = {
    "pages": ("site", "jobs", "log", "commands"),
    "connect-processes": ("rates", "memory"),
    "worlds": ("joblib", "psij", "parsl", "calls", "rules", "children", "grouped"),
    "peers": (*PEERS,),
    "queues": ("weft", *queues.PEERS),
}
"""The parts of benches that can be measured alone."""


def main(words: Sequence[str] | None = None) -> int:
    """Measure a bench, or list them."""
    options = _options(words)
    if options.name is None:
        print_table(("Bench", "Measures"), BENCHES.items())
        return 0
    scale = options.scale if options.minutes is None else options.minutes / 60
    plan = BenchPlan(
        scale=scale,
        jobs=options.jobs,
        rounds=options.rounds,
        directory=options.dir,
        part=options.part,
        trace=options.trace,
    )
    try:
        with progress_of(options.name, lines=options.json) as progress:
            result = run_bench(options.name, plan, progress, package="benches")
    except KeyboardInterrupt:
        return INTERRUPTED
    (print_json if options.json else print_result)(result)
    return 0


def _options(words: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="make bench NAME=", description=__doc__)
    parser.add_argument("name", nargs="?", choices=[*BENCHES])
    parser.add_argument("--scale", type=float, default=1.0, help="factor for the default sizes")
    parser.add_argument("--minutes", type=float, help="of a bench that takes an hour")
    parser.add_argument("--jobs", type=int, help="number of jobs, instead of the default")
    parser.add_argument("--rounds", type=int, help="number of rounds, instead of the default")
    parser.add_argument("--dir", type=Path, help="where the throw-away home is made")
    parser.add_argument("--trace", type=Path, help="a recorded workload (SWF) for `simulate`")
    parser.add_argument("--part", help="only this part of a bench that has parts")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    options = parser.parse_args(words)
    parts = PARTS.get(options.name, ())
    if options.part is not None and options.part not in parts:
        parser.error(f"--part: the parts of {options.name} are: {', '.join(parts) or 'none'}")
    return options


if __name__ == "__main__":
    sys.exit(main())
