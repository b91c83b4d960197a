"""Settings of drivers."""

from typing import Annotated

from weft.core.deliveries.mail import parse_mailbox
from weft.core.scheduling import black_holes
from weft.settings.declare import Checked, section, setting


@section
class DriverSettings:
    """How many drivers there are, and how long they keep things."""

    drivers: int = setting(1, "number of drivers that `weft up` starts", within=(1, 8))
    losses_max: int = setting(
        5,
        "how often a running job may be lost or preempted and start again; the next loss is an "
        "error",
        within=(0, 1000),
        in_sql=True,
    )
    spot_losses_max: int = setting(
        2,
        "how often a running job may be lost or preempted on machines that may be taken back; "
        "after that it goes to one that stays",
        within=(1, 1000),
        in_sql=True,
    )
    own_machine_tries: int = setting(
        3,
        "how many machines are asked for in vain for a job that wants one of its own before it "
        "ends as an error, which it does not before one of them could have come",
        within=(1, 1000),
        in_sql=True,
    )
    preempt_after_s: float = setting(
        10.0,
        "seconds for which a job of a queue with a priority finds no room before preemptible jobs "
        "of lower queues are stopped for it",
        within=(0, 86400),
    )
    preempted_wait_s: float = setting(
        60.0,
        "seconds before a job that was stopped for another may start again",
        within=(1, 86400),
    )
    spending_interval_s: float = setting(
        5.0,
        "seconds between two looks at what billing projects with limits spend; a limit is reached "
        "when what runs would exceed it before the next look",
        within=(0.5, 600),
    )
    stop_within_s: float = setting(
        120.0,
        "seconds that a worker may take to stop an attempt which is beyond a limit of its queue; "
        "after that the worker is given up, with all that it runs",
        within=(1, 86400),
    )
    patrol_every_s: float = setting(
        600.0,
        "seconds between two looks at all jobs that have not ended: whether each is with somebody",
        within=(1, 86400),
    )
    black_hole_failures: int = setting(
        black_holes.FAILURES_MIN,
        "attempts in a row that fail at once on a worker, while others succeed elsewhere, after "
        "which it is cordoned and tries one job at a time; 0: never",
        within=(0, 1000),
    )
    black_hole_batches: int = setting(
        black_holes.BATCHES_MIN, "batches of which these attempts are at least", within=(1, 1000)
    )
    black_hole_fast_s: float = setting(
        black_holes.FAST_S, "seconds within which an attempt fails at once", within=(0, 3600)
    )
    black_hole_retry_s: float = setting(
        black_holes.FIRST_S,
        "seconds after which such a worker tries a job; doubled after each failed try, up to an "
        "hour",
        within=(1, 3600),
    )
    batch_notes_max: int = setting(
        1000, "notes of running jobs that a batch keeps", within=(0, 100_000), in_sql=True
    )
    events_keep_s: float = setting(
        86400.0, "seconds for which events can be read again", within=(60, 31536000)
    )
    offers_ahead_max: int = setting(
        500,
        "jobs of a queue that are offered to a transport beyond the free slots of its consumers, "
        "at most; of long jobs it is as many as there are slots",
        within=(1, 10_000),
    )
    dead_messages_max: int = setting(
        1000,
        "messages of transports that nobody wanted and that are kept for each tenant",
        within=(1, 100_000),
    )
    dead_messages_keep_s: float = setting(
        2_592_000.0, "seconds for which they are kept", within=(60, 31_536_000)
    )
    dead_messages_mail: Annotated[str, Checked(parse_mailbox)] = setting(
        "", "address to which is mailed that there are some, by `mail_server`; empty: nobody"
    )
    dead_messages_mails_per_hour: int = setting(4, "letters about them in an hour", within=(1, 60))
    trail_keep_s: float = setting(
        0.0,
        "seconds for which entries of the trail are kept, at least a day; 0: for ever",
        within=(0, 3_153_600_000),
    )
    autoscale_s: float = setting(
        15.0,
        "seconds between two looks at a pool that changes or has waiting jobs",
        within=(1, 3600),
    )
    autoscale_jobs_max: int = setting(
        5000,
        "waiting jobs of a pool that a look considers, in fair-share order",
        within=(1, 100_000),
    )
    reserve_after_s: float = setting(
        300.0,
        "seconds after which a large job that waits gets a worker that is kept for it",
        within=(1, 604_800),
    )
    provider_timeout_s: float = setting(
        120.0, "seconds for one call of a provider of machines", within=(1, 3600)
    )
    provider_list_s: float = setting(
        600.0,
        "seconds between two comparisons of machines with those that their provider has",
        within=(1, 86400),
    )
    leftover_keep_s: float = setting(
        3600.0,
        "seconds after which what machines left at their provider, as disks, is removed",
        within=(60, 31536000),
    )
    updates_keep_s: float = setting(
        86400.0,
        "seconds after which an uncommitted update is removed, and a batch that never had jobs "
        "does not count in quotas any more",
        within=(60, 31536000),
    )
