"""What the api answers, as types for editors and type checkers.

When a program runs, each of them is an `Answer`, whose attributes are of these types.
Made by `tools/generate_client.py`; do not edit.
"""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal
from typing import Literal

from weft.client.answer import Answer


class Acknowledged(Answer):
    """Failed jobs that left the list; ask again with the same `until` while there are any."""

    batch_id: int
    n_jobs: int
    until: datetime


class Acknowledgement(Answer):
    """A note that somebody has seen to a failed job or a dead message."""

    at: datetime
    by: str
    note: str


class AnswerLink(Answer):
    """A link that answers one job, once."""

    token_id: int
    """revoke it, and the link counts no more"""
    url: str
    """whoever opens it may answer this job, and nothing else"""
    expires_at: datetime


class App(Answer):
    """An application, as lists show it."""

    name: str
    """name and version, as jobs ask for it"""
    title: str
    revision: int
    """counts its contents"""
    digest: str
    """SHA-256 of the packed folder"""
    n_bytes: int
    """of the packed folder"""
    system: str | None
    """queue, pool or engine on which it runs; null: anywhere"""
    for_user: str | None
    """who alone may run it; null: everybody in the tenant"""
    added_by: str | None
    added_at: datetime


class AppRemoved(Answer):
    """An application that no new job gets."""

    name: str
    """name and version, as jobs ask for it"""


class Attempt(Answer):
    """One execution of a job."""

    attempt: int
    worker: str
    state: Literal[
        "pending",
        "ready",
        "queued",
        "creating",
        "running",
        "blocked",
        "success",
        "failed",
        "error",
        "cancelled",
    ]
    """of the job after this attempt"""
    phase: (
        Literal[
            "assigned",
            "preparing",
            "staging_inputs",
            "submitting",
            "queued_remote",
            "executing",
            "collecting",
            "archiving",
            "publishing",
        ]
        | None
    )
    reason: (
        Literal[
            "exit",
            "signal",
            "timeout",
            "oom",
            "disk",
            "no_program",
            "no_image",
            "bad_spec",
            "cancelled",
            "preempted",
            "lost",
            "log_limit",
            "system",
            "deadline",
            "blocked",
            "overdue",
            "files",
        ]
        | None
    )
    exit_code: int | None
    signal: int | None
    message: str | None
    """details of its end; while it runs in an engine, what that says of it"""
    claimed_at: datetime
    started_at: datetime | None
    """null: it did not run"""
    ended_at: datetime | None
    """null: it is not over"""
    cpu_ms: int
    """milliseconds"""
    memory_peak_bytes: int
    cost: Decimal
    """in the deployment's currency"""
    cost_by_resource: list[ResourceCost]
    log: StoredOutput
    progress: Progress
    """as it says itself; missing if it says nothing"""


class AttemptBar(Answer):
    """One attempt on a worker."""

    job_id: int
    attempt: int
    lane: int
    """no two attempts of a lane ran at the same time"""
    claimed_at: datetime
    started_at: datetime | None
    ended_at: datetime | None
    """null: it runs"""
    state: str
    """of the job after it"""


class AttemptSample(Answer):
    """What an attempt had used at some moment."""

    at_ms: int
    """since its start"""
    cpu_ms: int
    """CPU time of all its processes since its start"""
    memory_bytes: int
    """what its processes have in memory then"""


class AttemptUsage(Answer):
    """What an attempt used while it ran."""

    batch_id: int
    job_id: int
    attempt: int
    samples: list[AttemptSample]
    """oldest first; empty: it was too short, or its runner measures nothing"""


class AvoidedNode(Answer):
    """A node behind a gateway on which it begins nothing for now."""

    node: str
    until: datetime
    reason: str


class BatchActionCount(Answer):
    """What an action would do to the batches that a query finds."""

    action: str
    n_batches: int
    """that it would change"""
    n_jobs: int
    """of these batches, those that it concerns"""
    n_idle: int
    """batches in which there is nothing to do"""
    has_more: bool
    """the query finds more, which are not counted (`bulk_batches_max`)"""


class BatchCreated(Answer):
    """A batch that a request created."""

    id: int
    batch_id: int
    update_id: int | None
    """null: the batch is empty"""
    first_job: int | None
    first_group: int | None
    n_jobs: int
    n_groups: int
    committed: bool
    trace_id: str
    job_ids: list[int]
    """of the jobs, in the order of the request"""
    skipped: bool
    """true: this has the key"""
    replaced: int
    """cancelled; it had the key"""


class BrokenCheck(Answer):
    """A check of the audit that did not hold."""

    check: str
    sentence: str
    """what should be true"""
    n_rows: int
    """that contradict it; at most 100 are counted"""


class CallbackSecret(Answer):
    """The secret that signs the callbacks of a tenant."""

    secret: str


class Cancelled(Answer):
    """A batch or a group is cancelled."""

    batch_id: int
    group_id: int
    cancelled: bool
    was_cancelled: bool
    """before this request"""
    had_ended: bool
    """all its jobs had ended: it keeps its state, and takes no more jobs"""


class Change(Answer):
    """A change that somebody made to a batch or a group."""

    id: int
    at: datetime
    actor: str
    kind: str
    message: str | None


class Condition(Answer):
    """What blocked jobs wait for together: one incident, tested once for all of them."""

    condition_id: int
    condition: Literal[
        "executor_unavailable",
        "application_unavailable",
        "storage_unavailable",
        "quota",
        "connection_failed",
        "connection_timed_out",
        "authentication_failed",
        "rate_limited",
        "licence_missing",
        "custom",
        "transport_unavailable",
    ]
    """transport_unavailable: no job is blocked on it; ready jobs wait for the transport, and
    nobody but the driver tests it
    """
    tester: str
    parameters: Answer
    since: datetime
    n_jobs: int
    """that wait for it now; of a user who does not see the tenant: of the jobs that they see,
    10,000 at most; of a transport 1,000 at most of each batch
    """
    n_next: int
    """how many go on after the next test that passes"""
    next_test_at: datetime
    tested_at: datetime | None
    """null: not tested yet"""
    passed: bool | None
    """the last test"""
    message: str | None
    """what it said"""
    failed_by: str | None
    """who has given it up: its jobs end; null: nobody"""


class CountedJobs(Answer):
    """The fields that batches and groups share."""

    name: str | None
    user: str
    billing_project: str
    state: Literal["running", "success", "failure", "cancelled"]
    complete: bool
    """all jobs have ended"""
    cancelled: bool
    hidden: bool
    """lists of batches leave the batch out"""
    held: bool
    n_jobs: int
    n_completed: int
    n_pending: int
    n_ready: int
    n_queued: int
    n_creating: int
    n_running: int
    n_blocked: int
    n_succeeded: int
    n_failed: int
    n_errored: int
    n_cancelled: int
    cost: Decimal
    """in the deployment's currency"""
    cost_by_resource: list[ResourceCost]
    created_at: datetime
    completed_at: datetime | None
    """when the last job ended; null: not complete, or empty"""
    duration_ms: int
    """milliseconds to its completion or to now"""
    attributes: Answer
    callback: str | None
    cancel_after_n_failures: int | None
    max_running: int | None
    trace_id: str


class DatabaseFacts(Answer):
    """The database."""

    name: str
    server_version: str
    started_at: datetime
    bytes: int
    n_connections: int
    """to the whole server"""
    connections_max: int
    sees_times: bool
    """weft sees since when sessions do something"""
    longest_transaction: Transaction | None
    """null: none is open, or times are hidden"""
    n_tables: int
    n_dead: int
    """dead rows in all tables"""
    tables: list[Table]
    """the largest first"""


class DeadMessage(Answer):
    """A message of a transport that nobody wants."""

    dead_id: int
    transport: str
    source: str
    """the queue or topic in which it was, or should have come"""
    reason: Literal["refused", "unroutable", "rejected", "expired", "full", "undelivered"]
    """refused: by weft; the others are the broker's words"""
    error: str | None
    """with which weft has refused it"""
    kept_at: datetime
    n_bytes: int
    """that it had; 65,536 of them are kept"""
    can_resend: bool
    """it is whole, and a queue of weft was meant"""
    resend_at: datetime | None
    """when it was asked for; once it is sent it is gone"""
    acknowledged: Acknowledgement | None
    """null: it is still to be seen to"""


class DeadMessageRemoved(Answer):
    """A dead message that is forgotten."""

    dead_id: int


class FailureCause(Answer):
    """A cause for which jobs of a batch failed."""

    cause: str
    """the same for failures of all batches that have it in common"""
    reason: Literal[
        "exit",
        "signal",
        "timeout",
        "oom",
        "disk",
        "no_program",
        "no_image",
        "bad_spec",
        "cancelled",
        "preempted",
        "lost",
        "log_limit",
        "system",
        "deadline",
        "blocked",
        "overdue",
        "files",
    ]
    exit_code: int | None
    signal: int | None
    message: str | None
    """what failed jobs said, without what differs from job to job"""
    n_jobs: int
    """that nobody has acknowledged"""
    n_acknowledged: int
    failed_at: datetime
    """when the last of them failed"""
    example: FailureExample | None


class FailureExample(Answer):
    """The first job that failed for a cause."""

    job_id: int
    attempt: int
    """the last one; 0: it never started"""
    message: str | None
    """what it said"""


class Failures(Answer):
    """Why jobs of a batch failed for good, the most frequent causes first."""

    n_jobs: int
    """failed jobs that nobody has acknowledged"""
    n_acknowledged: int
    n_causes: int
    """also those that `limit` leaves out"""
    causes: list[FailureCause]


class FileStoreRemoved(Answer):
    """A store that no job can name any more."""

    name: str


class FileStoreStep(Answer):
    """One thing that was tried."""

    step: Literal["write", "read", "remove"]
    problem: str | None
    """null: it worked"""
    hint: str | None
    """what may help"""


class FileStoreTried(Answer):
    """What works of a store; nothing is tried after a write that failed."""

    name: str
    url: str
    """its bucket, and the beginning of all keys in it"""
    access: Literal["read", "write"]
    works: bool
    steps: list[FileStoreStep]


class FileTried(Answer):
    """A file, as far as the server sees it now."""

    problem: str | None
    """null: there is none, or it was not looked at"""
    is_looked_at: bool
    """false: only a worker sees it, or there was no time; it may be there or not"""


class FilesTried(Answer):
    """What is there of the files of jobs, in the order in which it was asked for."""

    inputs: list[FileTried]
    stores: list[StoreTried]


class Flavour(Answer):
    """A kind of machine."""

    name: str
    cpu_m: int
    memory_mib: int
    storage_mib: int
    gpus: int
    countables: Answer
    labels: Answer
    containers: bool
    preemptible: bool
    walltime_s: int
    """how long it lives; 0: it stays"""
    price_per_hour: Decimal


class Forecast(Answer):
    """When a job or a batch starts and ends, and what it costs: from and to, about nine times
    in ten if jobs go on as like ones did; each null if that is not known.
    """

    batch_id: int
    job_id: int | None
    """null: the batch"""
    unknown: str | None
    """why nothing is known; null: something is"""
    starts: list[datetime] | None
    """null, too, if it has started"""
    ends: list[datetime] | None
    costs: list[Decimal] | None
    """with what has run already"""
    n_like: int
    """of how many jobs that ended it is known"""
    causes: list[WaitCause]
    """as of why: what would change it"""


class GivenUpSettled(Answer):
    """Messages of a sink that were given up."""

    sink: str
    n_messages: int
    """10000: a repeat settles further ones"""


class GroupWhy(Answer):
    """Why jobs of a batch or a group wait; a few of them stand for the others."""

    door: str
    """through which it came; missing if none"""
    foreign_id: str
    """its id at the door; missing if none"""
    app: str
    """the application that it runs; missing if none"""
    batch_id: int
    name: str
    """as commands name it"""
    state: Literal["running", "success", "failure", "cancelled"]
    causes: list[WaitCause]
    """what is first to change first; empty: it will start in a moment"""


class GroupsAdded(Answer):
    """The number of groups in a bunch."""

    n_groups: int


class HiddenChanged(Answer):
    """A batch was hidden from lists, or is shown again."""

    batch_id: int
    hidden: bool
    """now"""
    was_hidden: bool
    """before this request"""


class HistoryEntry(Answer):
    """A dated change of a job."""

    at: datetime
    to: Literal[
        "pending",
        "ready",
        "queued",
        "creating",
        "running",
        "blocked",
        "success",
        "failed",
        "error",
        "cancelled",
    ]
    phase: (
        Literal[
            "assigned",
            "preparing",
            "staging_inputs",
            "submitting",
            "queued_remote",
            "executing",
            "collecting",
            "archiving",
            "publishing",
        ]
        | None
    )
    attempt: int | None
    actor: str
    subtype: str | None
    message: str | None
    status: str
    """as submitted; missing if it was not given"""


class HoldChanged(Answer):
    """A batch or a group was held or released."""

    batch_id: int
    group_id: int
    held: bool
    """now, perhaps by a group above"""
    was_held: bool
    """before this request, by a hold of its own"""


class Imported(Answer):
    """What became of the jobs of an import."""

    n_new: int
    """jobs that were taken over"""
    n_known: int
    """jobs that were imported before"""


class ItemChange(Answer):
    """A dated change of an item, or a status of a job that it became."""

    at: datetime
    state: str
    """of the item; of its job, from the first status on"""
    status: str | None
    """of its lifecycle, if it has one"""
    actor: str
    subtype: str | None
    message: str | None
    """why"""
    job: str | None
    """that it became afterwards"""


class JobAnswered(Answer):
    """The result of an answer."""

    batch_id: int
    job_id: int
    state: str
    """of the job: `success` or `error`"""


class JobExtended(Answer):
    """The result of an extension of a job's time limit."""

    batch_id: int
    job_id: int
    timeout_s: float
    """how long each attempt may run now"""
    extended_s: float
    """how much of it was added later"""


class JobFile(Answer):
    """A file that a job has left, or has at the moment."""

    path: str
    attempt: int
    bytes: int
    sha256: str | None
    """null: the job runs and may change it"""
    address: str | None
    """where it is kept; null: weft keeps it"""
    kept_at: datetime | None
    """null: the job runs"""
    changed_at: datetime


class JobMessaged(Answer):
    """The result of a message to a job."""

    batch_id: int
    job_id: int
    attempt: int
    size_bytes: int
    result: str
    """`sent` to its worker; the history of the job says when it was delivered"""


class JobNote(Answer):
    """What a job says about itself."""

    title: str
    kind: Literal["markdown", "text", "table", "picture", "link"]
    attempt: int
    """which said it last"""
    told_at: datetime
    n_bytes: int
    body: str | None
    """null: it is a picture"""


class JobNumber(Answer):
    """A job, without saying anything about it."""

    batch_id: int
    job_id: int


class JobRoute(Answer):
    """The queue that takes a job, or several that are asked for in the same way."""

    jobs: list[int]
    """their positions in the document, from 1"""
    queue: str
    verdicts: list[QueueVerdict]


class JobSignalled(Answer):
    """The result of a signal to a job."""

    batch_id: int
    job_id: int
    attempt: int
    signal: str
    """the name of the signal"""
    result: str
    """`sent` to its worker; the history of the job says when it was delivered"""


class JobWhy(Answer):
    """Why a job waits, what it does, or what became of it."""

    door: str
    """through which it came; missing if none"""
    foreign_id: str
    """its id at the door; missing if none"""
    app: str
    """the application that it runs; missing if none"""
    batch_id: int
    job_id: int
    state: Literal[
        "pending",
        "ready",
        "queued",
        "creating",
        "running",
        "blocked",
        "success",
        "failed",
        "error",
        "cancelled",
    ]
    causes: list[WaitCause]
    """what is first to change first; empty: it will start in a moment"""


class JobsAdded(Answer):
    """The number of jobs in a bunch."""

    n_jobs: int


class KeptFor(Answer):
    """A job that waited long, for which a worker is kept."""

    batch_id: int | None
    """null: it belongs to another tenant"""
    job_id: int | None
    since: datetime
    fill_until: datetime | None
    """jobs that end before this may start there meanwhile; null: none may"""


class LastAudit(Answer):
    """What the last `weft audit` has found."""

    ended_at: datetime
    took_ms: int
    version: str
    """of the program that looked"""
    n_checks: int
    wrong: list[BrokenCheck]


class Licence(Answer):
    """Something that all pools share, such as a floating licence of a program."""

    licence: str
    n: int
    n_used: int
    """by jobs that run or start next"""
    set_at: datetime
    set_by: str


class LicenceRemoved(Answer):
    """A licence that is forgotten."""

    licence: str


class Lifecycle(Answer):
    """The statuses that jobs have, and which may follow which."""

    lifecycle: str
    setup: str
    statuses: list[str]
    first: list[str]
    next: Answer
    core: Answer
    """the states that statuses belong to"""
    phase: Answer
    """the status of a phase"""
    exit: list[LifecycleExit]
    """what exit codes mean"""
    limits: Answer
    """how long a job may have a status"""
    on_limit: LifecyclePath
    lost: LifecyclePath
    saved_at: datetime
    saved_by: str


class LifecycleExit(Answer):
    """What a range of exit codes means."""

    codes: str
    status: str
    subtype: str
    tries: int
    """ends of this kind, after which it is not tried again"""
    products: bool


class LifecyclePath(Answer):
    """What a job goes through when it had a status for too long, or its attempt is lost."""

    path: list[str]
    subtype: str
    rounds: int
    """after them it is an error"""
    after: str
    """how long nobody names it"""


class LineParameter(Answer):
    """A version of a parameter of production lines."""

    parameter: str
    version: int
    type: Literal["text", "integer", "number", "boolean", "date", "list"]
    value: str | int | float | bool | list[str | int | float | bool]
    set_at: datetime
    set_by: str
    setup: str | None
    """whose file has set it; null: a person has"""


class Lines(Answer):
    """How production lines are."""

    sources: list[LineSource]
    """at most 1000, by name"""
    sinks: list[LineSink]
    """the same; those of others only for who sees the whole tenant"""
    statuses: list[StatusCount]
    """of up to 50,000 jobs of the newest 1,000 batches with a lifecycle"""


class LinkState(Answer):
    """What a worker outside has said last."""

    delay_ms: float
    """of its last heartbeat, there and back"""
    unshipped_bytes: int
    """of output that the api does not have"""
    input_cache_bytes: int
    """of inputs that it keeps for jobs"""


class LoginLink(Answer):
    """A link that opens a session in a browser, once."""

    url: str
    """whoever opens it acts as you: show it to nobody else"""
    expires_at: datetime


class Machine(Answer):
    """A machine that a provider made for a pool."""

    machine: str
    flavour: str
    region: str
    provider: str
    provider_id: str | None
    state: Literal["creating", "active", "cordoned", "deleting"]
    reason: str
    created_at: datetime
    changed_at: datetime
    """since when it has its state"""
    price_per_hour: Decimal
    for_one_job: bool
    waits: str | None
    """why its provider has not begun it; null: it has"""


class MembersAdded(Answer):
    """The number of jobs that a request added to a set, and the number that it has now."""

    batch_id: int
    group_id: int
    added: int
    n_members: int


class Minute(Answer):
    """What happened in one minute."""

    at: datetime
    """when the minute began"""
    n_waiting: int
    """jobs that had not started at its end"""
    n_running: int
    """jobs that ran at its end"""
    n_succeeded: int
    n_failed: int
    """jobs that failed, or ended by an error"""
    n_cancelled: int


class Minutes(Answer):
    """The last 60 minutes, oldest first."""


class NewFileStore(Answer):
    """A store of objects, as it is set."""

    name: str
    url: str
    """its bucket, and the beginning of all keys in it"""
    endpoint: str | None
    """the server; null: that of AWS"""
    region: str | None
    access: Literal["read", "write"]
    credentials: Literal["secret", "env", "instance-role"]
    secret: str | None
    """the name of a secret of who set the store"""


class Operation(Answer):
    """Work on a batch, or on many, that goes on in the background."""

    id: int
    kind: str
    batch_id: int | None
    """null: it is on many batches"""
    state: Literal["running", "success", "failed", "cancelled"]
    done: int
    """of job or batch numbers, those that it has passed"""
    total: int
    error: Problem | None
    result: Answer | None
    created_at: datetime
    ended_at: datetime | None
    trace_id: str | None


class Overview(Answer):
    """The workers, and the numbers of waiting and running jobs."""

    pending: int
    ready: int
    queued: int
    running: int
    blocked: int
    conditions: int
    """what blocked jobs wait for, each once"""
    incidents: int
    """those, failing sources, sinks and workers"""
    workers: list[Worker]


class Parameter(Answer):
    """A setting in force, as the api that replies has it."""

    name: str
    value: str | None
    """secrets are hidden; null: not set"""
    is_default: bool
    driver_value: str | None
    """what the leading driver follows instead; null: the same"""
    help: str


class PhaseTimes(Answer):
    """The times of jobs, added up."""

    waiting_ms: int
    """milliseconds"""
    staging_ms: int
    """milliseconds"""
    starting_ms: int
    """milliseconds"""
    running_ms: int
    """milliseconds"""
    storing_ms: int
    """milliseconds"""
    blocked_ms: int
    """milliseconds"""


class Pool(Answer):
    """The machines that a pool may have, and the rules by which they come and go."""

    name: str
    provider: str | None
    tenant: str | None
    options: Answer
    min_workers: int
    max_workers: int
    idle_s: float
    creates_per_round: int
    create_batch: int
    deletes_per_round: int
    delete_share: float
    window_s: float
    min_work_s: float
    stale_s: float
    regions: list[str]
    quota_cpu_m: int | None
    quota_share: float
    flavours: list[Flavour]


class PoolAnswer(Answer):
    """A pool, and how many machines it has."""

    pool: str
    plan: Pool | None
    """null: nobody described it"""
    machines: Answer
    """by state, without deleted ones"""


class PoolChange(Answer):
    """Something that was decided about a pool."""

    at: datetime
    kind: Literal["apply", "create", "cordon", "uncordon", "delete", "gone", "fail"]
    machine: str | None
    reason: str


class PoolCost(Answer):
    """What the machines of a flavour cost on one date."""

    date: str
    """UTC"""
    flavour: str
    """empty: machines that weft has not asked for"""
    machine_hours: float
    """how long they existed"""
    used_hours: float
    """the part that jobs reserved, by cpu or memory, whichever is more"""
    cost: Decimal
    """in the deployment's currency"""
    used_cost: Decimal
    """in the deployment's currency"""
    idle_cost: Decimal
    """the rest of the cost"""


class PoolDifference(Answer):
    """A pool that is created, changed or deleted."""

    kind: Literal["create", "change", "delete"]
    pool: str
    fields: Answer
    """what differs: [before, after]"""


class PoolSurplus(Answer):
    """A pool that has more machines than it may have."""

    pool: str
    n_machines: int
    max_workers: int


class PoolsSaved(Answer):
    """What saving pools has changed, or would change."""

    changes: list[PoolDifference]
    surplus: list[PoolSurplus]
    """what is too many goes as its jobs end"""
    dry_run: bool


class Problem(Answer):
    """An error (RFC 9457): what happened, why, and what to do. docs/errors.md lists the codes."""

    type: str
    title: str
    """what happened"""
    status: int
    detail: str
    """why"""
    hint: str
    """what to do"""
    code: str
    trace_id: str
    errors: list[ProblemField]


class ProblemField(Answer):
    """One offending field."""

    pointer: str
    """a JSON pointer (RFC 6901)"""
    message: str


class Process(Answer):
    """A process of weft that is connected to the database."""

    role: Literal["api", "driver", "worker"]
    version: str | None
    """null: a session that does not name its program"""
    schema: int | None
    """number of the schema that it was made for"""
    host: str | None
    """null: a session that does not name its program"""
    pid: int | None
    """null: a session that does not name its program"""
    n_connections: int
    leads: bool
    """it is the driver that decides"""
    since: datetime | None
    """its oldest connection; null: the database hides it from weft"""
    heard_at: datetime | None
    """its last statement: of drivers and workers a heartbeat; null: the database hides it from
    weft
    """


class Product(Answer):
    """What a job that ended well says that it has made."""

    id: int
    batch_id: int
    """of its job, which may be deleted"""
    job_id: int
    attempt: int
    line: int
    """among the products of its job"""
    product: Answer
    """what the job has written"""
    inputs: list[Answer] | None
    """the files that its job got, as its document names them; null: none"""
    name: str | None
    """of its job, as `attributes`, at its end"""
    attributes: Answer
    user: str
    billing_project: str
    kept_at: datetime
    """when its job ended"""
    check: ProductCheck | None
    """what stopped its delivery; null: nothing did"""


class ProductCheck(Answer):
    """A check that has stopped the delivery of a product."""

    state: Literal["held", "passed", "dropped"]
    """`held`: it waits for a person, who lets it pass or drops it"""
    sink: str
    delivery_id: int
    error: str | None


class ProductRemoved(Answer):
    """A product that was forgotten."""

    id: int


class ProgramCount(Answer):
    """How many processes of a role and version are connected."""

    role: Literal["api", "driver", "worker"]
    version: str | None
    """null: a session that does not name its program"""
    n: int


class Progress(Answer):
    """How far an attempt says that it is."""

    percent: float
    text: str
    at: datetime
    """since when it says this"""
    attempt: int
    """the one that said it"""


class ProjectCost(Answer):
    """The cost of a billing project so far."""

    name: str
    closed: bool
    """it takes no new batches"""
    cost_max: Decimal | None
    """its limit; null: none"""
    cost_soft_max: Decimal | None
    """beyond it the weight of its jobs is halved; null: none"""
    on_limit: Literal["pause", "cancel"]
    """what becomes of its jobs at its limit"""
    limit_state: Literal["below", "near", "slowed", "paused", "cancelled"]
    """where its limits have brought it"""
    cost_per_hour: Decimal | None
    """of all that it runs; null: it has no limits"""
    limit_in_s: float | None
    """when it reaches its limit at this rate; null: it does not"""
    cost: Decimal
    """in the deployment's currency"""
    cost_by_resource: list[ResourceCost]
    members: list[str]
    """names of users"""


class ProjectDeleted(Answer):
    """A billing project that is in no list any more."""

    name: str


class Queue(Answer):
    """A queue, with how many jobs it has."""

    name: str
    priority: int | None
    """null: the queue `default`, the last one"""
    guard: str | None
    pools: list[str]
    executor: str | None
    users: list[str] | None
    """null: all of the tenant"""
    state: Literal["enabled", "draining", "closed"]
    max_running: int | None
    max_running_per_user: int | None
    max_starts_per_s: int | None
    max_waiting: int | None
    transport: str
    consumers: Literal["weft", "foreign"]
    slots: int | None
    """null: it has no foreign consumers"""
    queued_s: int | None
    """null: 600, if it has foreign consumers"""
    monitor: Answer | None
    """null: no limits"""
    n_waiting: int | None
    """null: the queue takes no jobs of the user who asks"""
    n_running: int | None
    """null: the queue takes no jobs of the user who asks"""


class QueueDifference(Answer):
    """A queue that is created, changed or deleted."""

    kind: Literal["create", "change", "delete"]
    queue: str
    fields: Answer
    """what differs: [before, after]"""


class QueueMove(Answer):
    """Jobs that moved from one queue to another, or would."""

    queue: str
    to: str
    n_jobs: int


class QueueVerdict(Answer):
    """Whether a queue takes a job."""

    queue: str
    takes: bool
    reason: str
    """why not"""


class QueuesRerouted(Answer):
    """What moved among the jobs that were looked at."""

    moves: list[QueueMove]
    cursor: str | None
    """null: all waiting jobs were looked at"""


class QueuesSaved(Answer):
    """What saving queues has changed, or would change."""

    changes: list[QueueDifference]
    new_pools: list[str]
    dry_run: bool


class QueuesTested(Answer):
    """Which queues take the jobs of a document."""

    routes: list[JobRoute]


class Quota(Answer):
    """How much there may be at a time, and how much there is."""

    kind: Literal["tenant", "each_user", "user"]
    """tenant: all users together; each_user: users as far as their own quota says nothing;
    user: what counts for this one
    """
    name: str | None
    """of the tenant or the user"""
    jobs: int | None
    """null: any number"""
    batches: int | None
    """null: any number"""
    cores: float | None
    """null: any number"""
    bytes: int | None
    """null: any number"""
    n_jobs: int | None
    """null: not for this caller, or not asked for"""
    n_batches: int | None
    """that have such jobs, or none yet; null: not for this caller, or not asked for"""
    n_cores: float | None
    """of jobs that run; null: not for this caller, or not asked for"""
    n_bytes: int | None
    """stored, with what was sent and is not committed; null: not for this caller, or not asked
    for
    """


class Rate(Answer):
    """How often jobs may start that use the same thing, such as a web API that counts calls."""

    key: str
    """One for all users of a tenant."""
    n: int
    """At most this number of jobs with the key start in a period; the last one given for the
    key and the period counts.
    """
    per_s: float
    """The period in seconds. Jobs with the same key and period share a rate."""


class RateCard(Answer):
    """Prices and the time from which they apply."""

    version: int
    valid_from: datetime | None
    """null: from the beginning"""
    rates: list[ResourcePrice]
    corrections: list[RateCorrection]
    """newest first"""


class RateCorrection(Answer):
    """A correction of prices. What was used at these prices costs the corrected ones."""

    at: datetime
    by: str
    reason: str | None
    old: RateValues
    new: RateValues


class RateValues(Answer):
    """What a correction changed: prices of a unit for an hour, and the time of their start."""

    cpu: float
    memory: float
    storage: float
    gpu: float
    valid_from: datetime


class RefusedRun(Answer):
    """Why a run was not submitted."""

    code: str
    message: str
    detail: str
    hint: str


class ResourceCost(Answer):
    """The usage of one resource, and its cost."""

    resource: str
    usage: int
    """in the unit"""
    unit: str
    cost: Decimal
    """in the deployment's currency"""


class ResourcePrice(Answer):
    """The price of one resource."""

    resource: str
    unit: str
    """for an hour"""
    price: Decimal
    """of one unit"""


class Resources(Answer):
    """The resources that a job reserves."""

    cpu: float
    """cores"""
    memory: int
    """bytes"""
    storage: int
    """bytes"""
    gpu: int


class SavedQuery(Answer):
    """A query of the caller that has a name."""

    name: str
    query: str
    updated_at: datetime


class SavedQueryRemoved(Answer):
    """A saved query that there is no more."""

    name: str


class Schedule(Answer):
    """A schedule."""

    schedule_id: int
    name: str | None
    user: str
    billing_project: str
    cron: str
    time_zone: str
    missed: Literal["skip", "last", "all"]
    state: Literal["active", "paused"]
    next_at: datetime | None
    """null: it is paused"""
    paused_at: datetime | None
    pause_reason: Literal["user", "failures", "over"] | None
    """`failures`: refused too often in a row; `over`: it is never due again"""
    n_failures: int
    """refused runs in a row"""
    n_missed: int
    """due times without a run"""
    created_at: datetime
    last_run: ScheduleRun | None
    """null: none has ended"""


class ScheduleRemoved(Answer):
    """A schedule is gone; its batches stay."""

    schedule_id: int


class ScheduleRun(Answer):
    """A run of a schedule."""

    due_at: datetime
    by_hand: bool
    ended_at: datetime | None
    """null: it is being submitted"""
    batch_id: int | None
    """null: it was refused, or not submitted yet"""
    error: RefusedRun | None
    """why it was refused"""


class ScheduleStarted(Answer):
    """A run by hand was submitted."""

    schedule_id: int
    batch_id: int
    n_jobs: int


class Secret(Answer):
    """A secret of the caller, without its value, which nobody can see again."""

    name: str
    created_at: datetime
    updated_at: datetime


class SecretRemoved(Answer):
    """A secret that no job gets any more."""

    name: str


class SecretsRotated(Answer):
    """What a rotation did."""

    n_rotated: int
    """secrets that are encrypted anew"""
    key: str
    """id of the key that encrypts all of them now"""


class Sent(Answer):
    """What is sent until it has arrived."""

    delivery_id: int
    delivery: str
    """the Weft-Delivery header, the same in each try"""
    batch_id: int
    url: str
    n_attempts: int
    last_status: int | None
    last_error: str | None
    created_at: datetime
    tried_at: datetime | None
    next_at: datetime | None
    delivered_at: datetime | None


class SeriesRerunning(Answer):
    """Items of a series that are decided again."""

    source: str
    series: str
    n_items: int


class Session(Answer):
    """A session of the caller in a browser."""

    session_id: int
    browser: str
    """what the browser calls itself"""
    address: str
    """where it was opened from"""
    scopes: (
        list[Literal["read", "write", "exec", "operate", "manage", "administer", "work"]] | None
    )
    """the only rights that it has; null: all of its user"""
    created_at: datetime
    expires_at: datetime
    last_used_at: datetime | None
    """to the minute; null: not yet"""


class SessionsEnded(Answer):
    """Sessions that are good for nothing any more."""

    n_ended: int


class Setup(Answer):
    """The file of a production line."""

    setup: str
    document: str
    """TOML, as it came"""
    saved_at: datetime
    saved_by: str
    lifecycles: list[str]
    """the names of those that it has"""


class SetupChange(Answer):
    """A part of a setup that would be another one."""

    kind: Literal["create", "change", "delete"]
    part: str
    """such as `source scenes`"""
    fields: Answer
    """before and after; null: it has no such field"""


class SetupRemoved(Answer):
    """A setup that is forgotten."""

    setup: str


class SetupTried(Answer):
    """What a setup would change and make."""

    setup: str
    changes: list[SetupChange]
    sources: list[LineSourceTried]


class SharedLimit(Answer):
    """A concurrency key of a job."""

    key: str
    n: int
    """as submitted; other jobs may have changed it"""


class SharedWith(Answer):
    """What a user may do with a batch, because it was shared with them."""

    batch_id: int
    user_id: int
    user: str
    permission: Literal["read", "execute", "write", "all"] | None
    granted_by: str | None
    granted_at: datetime | None


class Source(Answer):
    """A source of items, each of which becomes a job."""

    source: str
    setup: str
    """the line that has it"""
    kind: str
    user: str
    """as whom jobs are submitted"""
    billing_project: str
    lifecycle: str | None
    """of its jobs"""
    every_s: float
    state: Literal["active", "failing", "paused"]
    read_at: datetime | None
    """when it was last read without an error"""
    next_at: datetime | None
    """null: it is paused"""
    paused_at: datetime | None
    n_failures: int
    """failed readings in a row"""
    failed_since: datetime | None
    error: str | None
    """why the last reading failed, or no jobs could be made"""


class SourceItem(Answer):
    """What a source has found."""

    n: int
    """its place in the order in which they were found"""
    key: str
    state: Literal["new", "waiting", "ready", "job", "cancelled", "refused"]
    """`new`: just found; `waiting`: see `reason`; `ready`: its job is being submitted; `job`:
    it has one; `cancelled`: by its configuration; `refused`: it cannot have one
    """
    found_at: datetime
    job: str | None
    """such as `b1.j7`, which may be deleted"""
    reason: str | None
    """why it waits, or has no job"""
    series: str | None
    """in which it stands, if its source has such"""
    series_at: float | None
    """where it stands: a number, or seconds since 1970"""
    late: bool
    """what comes after it in its series had been decided before it, and was not run again"""
    parameters: Answer
    """the versions of parameters that decided about it"""


class SourceTried(Answer):
    """A reading of which nothing was kept."""

    source: str
    error: str | None
    """why it could not be read"""
    n_items: int
    more: bool
    """there is more to be read"""


class StatusCount(Answer):
    """How many jobs have a status."""

    lifecycle: str
    status: str
    n_jobs: int


class StoreTried(Answer):
    """A store in which jobs leave files; a small object was written, read and removed."""

    store: str
    problem: str | None
    """null: there is none, or it was not looked at"""
    is_looked_at: bool
    """false: only a worker sees it, or there was no time; it may be there or not"""


class StoredOutput(Answer):
    """How much of an attempt's output is stored."""

    stdout_bytes: int
    stderr_bytes: int
    truncated: bool


class System(Answer):
    """What runs for all tenants, and on what."""

    at: datetime
    """when it was looked at"""
    version: str
    """of the api that replies"""
    health: list[SystemFinding]
    processes: list[Process]
    """at most 50: drivers and apis first, then workers"""
    programs: list[ProgramCount]
    database: DatabaseFacts
    audit: LastAudit | None
    """null: none is recorded"""
    settings: list[Parameter]


class SystemFinding(Answer):
    """The result of one check of the site's health."""

    check: str
    verdict: Literal["ok", "warning", "wrong"]
    found: str
    advice: str
    """what to do; empty if there is nothing to do"""


class Table(Answer):
    """A table of the database, by the statistics of the server."""

    name: str
    bytes: int
    """with its indexes"""
    n_rows: int
    n_dead: int
    """rows that nobody sees any more"""
    vacuumed_at: datetime | None


class Tenant(Answer):
    """A closed world of users."""

    tenant_id: int
    name: str
    n_users: int
    on_user_removal: Literal["finish", "cancel"]
    """what becomes of the batches of a user who is removed, unless that says"""
    allowed: Answer
    """patterns of what its jobs may choose; of a missing kind anything"""
    output_keep_s: int
    """for which output is kept after the end of a batch; 0: no limit"""
    output_keep_bytes: int
    """that are stored before the oldest output is removed; 0: no limit"""


class TenantCreated(Answer):
    """A new tenant and its first user."""

    tenant_id: int
    name: str
    admin: str
    token: str
    """of the first user: it is shown only now"""


class Timeline(Answer):
    """The time axis of a batch."""

    batch_id: int
    begun_at: datetime
    ended_at: datetime
    """its last end; while it runs, now"""
    bucket_ms: int
    n_jobs: int
    n_sampled: int
    """jobs that were read, spread evenly over their numbers; if fewer than `n_jobs`, counts and
    times are estimates
    """
    times: PhaseTimes
    buckets: list[TimelineBucket]
    n_workers: int
    """also those that are not listed"""
    workers: list[WorkerLine]
    """those that ran longest, by name"""


class TimelineBucket(Answer):
    """How many jobs were in each phase during a stretch of time, on average."""

    at: datetime
    """its begin"""
    waiting: float
    staging: float
    starting: float
    running: float
    storing: float
    blocked: float


class Token(Answer):
    """A token of the caller, without its text, which nobody can see again."""

    token_id: int
    name: str
    scopes: (
        list[Literal["read", "write", "exec", "operate", "manage", "administer", "work"]] | None
    )
    """the only rights that it has; null: all of its user"""
    created_at: datetime
    expires_at: datetime | None
    """null: never"""
    last_used_at: datetime | None
    """to the minute; null: not yet"""
    pool: str | None
    """of workers outside; null: it is not for them"""
    workers: str | None
    """the names that they may have"""


class TokenRevoked(Answer):
    """A token that is good for nothing any more."""

    token_id: int


class TrailEntry(Answer):
    """A request that changed something or was refused, or logins that failed."""

    number: int
    at: datetime
    tenant: str | None
    user: str | None
    """null: a login of nobody knows whom"""
    token_id: int | None
    """null: of another issuer, or a schedule"""
    address: str | None
    """null: from no network, a schedule, or several"""
    trace_id: str
    action: str
    """an `operationId`, `run_schedule`, or `authenticate`: a wrong token; of the owner of the
    database such as `set_rates` or `audit`
    """
    path: str
    batch_id: int | None
    refused: str | None
    """the code of the error; null: it was done"""
    times: int
    """how many logins that failed it stands for; else 1"""
    sealed_at: datetime
    digest: str
    """of this entry and all before it, in hex"""


class Transaction(Answer):
    """A transaction that is open."""

    pid: int
    """of the server's process"""
    login: str
    program: str
    """as it names itself"""
    state: str | None
    began_at: datetime


class Transport(Answer):
    """A connection that the operator has named, as the driver saw it."""

    transport: str
    kind: str
    looked_at: datetime | None
    """null: the driver has not looked yet"""
    away_since: datetime | None
    """null: it answered"""
    error: str | None
    dead_messages: int
    """that nobody wanted, and acknowledged"""
    queues: list[TransportQueue]


class TransportQueue(Answer):
    """A queue that travels, and what is under way."""

    queue: str
    workers: int
    """that consume it"""
    slots: int
    """jobs that these run at a time"""
    offered: int
    """jobs that nobody has taken"""
    unconfirmed: int
    """of these: the message is not confirmed"""
    sent_again: int
    """of these: sent more than once"""
    in_flight: int
    """jobs that were taken and have not ended"""
    oldest_at: datetime | None
    """of the offers that nobody has taken"""
    messages: int | None
    """that the transport had to deliver; Kafka: that were not done (lag)"""
    consumers: int | None
    """that the transport counted"""


class TriedItem(Answer):
    """What a source gives, and what would become of it."""

    key: str
    known: Literal["new", "waiting", "ready", "job", "cancelled", "refused"] | None
    """the state of the item of this key; null: it would be new"""
    state: Literal["ready", "waiting", "cancelled", "refused"]
    reason: str | None
    """why it would wait, or get no job"""
    job: Answer | None
    """its job, as it would be submitted"""


class TriedMessage(Answer):
    """What a sink would be told."""

    sink: str
    to: Answer
    """where it would go"""
    message: str | None
    error: str | None
    """why there would be none"""


class UnsentMessages(Answer):
    """Messages for a sink that have not arrived."""

    sink: str
    n_open: int
    """messages that are still to be sent"""
    n_given_up: int
    n_held: int
    """that a check stopped, until somebody decides"""
    last_error: str | None
    """of what has not arrived, the last one"""


class Update(Answer):
    """The contiguous numbers that an update has reserved."""

    batch_id: int
    update_id: int
    first_job: int
    first_group: int
    n_jobs: int
    n_groups: int
    committed: bool


class UseLimit(Answer):
    """A limit of what a billing project, a user, a batch or a group uses."""

    id: int
    kind: Literal["project", "user", "batch", "group"]
    """whose it is"""
    project: str | None
    """null: it is not of a billing project"""
    user: str | None
    """null: it is not of a user"""
    batch_id: int | None
    """null: it is not of a batch or a group"""
    group_id: int | None
    """0: of the batch"""
    path: str | None
    """of the group; the name of a set"""
    measure: Literal["cost", "cpu", "memory", "storage", "gpu"]
    """money, or hours of this resource"""
    amount_max: float | None
    """null: none"""
    amount_soft_max: float | None
    """beyond it the weight of the jobs is halved; null: none"""
    on_limit: Literal["pause", "cancel"]
    """what becomes of the jobs at the limit"""
    until: datetime | None
    """when it ends; null: it stays"""
    limit_state: Literal["below", "near", "slowed", "paused", "cancelled"]
    """where it has brought them"""
    amount: float
    """used until now"""
    amount_per_hour: float
    """of all that runs"""
    limit_in_s: float | None
    """when it is reached at this rate; null: it is not"""


class User(Answer):
    """A user of the tenant."""

    user_id: int
    name: str
    role: Literal["viewer", "user", "operator", "tenant-admin", "admin", "worker"]
    weight: int
    """in fair shares"""
    weight_until: datetime | None
    """then 1 again; null: it stays"""
    last_seen_at: datetime | None
    """to the minute; null: not yet"""


class UserRemoved(Answer):
    """A user who is let in no more."""

    name: str
    on_user_removal: Literal["finish", "cancel"]
    """what becomes of their batches: as the request says, or the tenant"""
    n_cancelled: int
    """batches of theirs that this request cancelled"""


class WaitCause(Answer):
    """Something that would have to change for a job to run, or what became of it."""

    kind: str
    text: str
    """words that follow the name of the job or group"""
    command: str | None
    """changes it, or shows more; null: there is nothing to do"""
    job_id: int | None
    """the job of a group of which this is said; null: what was asked for"""


class WaitingJob(Answer):
    """A job that waits for a condition."""

    batch_id: int
    job_id: int
    blocked_at: datetime
    next_at: datetime
    """when it is tried again, if a test passes"""


class Whoami(Answer):
    """The caller, as their token says."""

    tenant: str
    user: str
    role: str
    rights: list[Literal["read", "write", "exec", "operate", "manage", "administer", "work"]]
    """with this token"""
    token_id: int | None
    csrf_token: str | None
    """what a page sends as X-CSRF-Token to change something; null: no session"""


class Worker(Answer):
    """A worker."""

    worker: str
    pool: str
    host: str
    state: Literal["active", "silent", "cordoned", "draining", "lost", "deleted"]
    cpu: float
    """cores"""
    memory: int
    """bytes"""
    registered_at: datetime
    heartbeat_at: datetime
    ended_at: datetime | None
    """null: it lives"""
    draining: bool
    waiting: bool
    version: str
    """its release"""
    linked: bool
    """it reaches the database by the link of the api, with a token"""
    link: LinkState | None
    """null: it is not linked, or to another api"""
    offers: Answer
    """what jobs may ask of it beside cpu and memory: amounts and labels"""
    slots: int | None
    """jobs at a time, whatever they ask for; null: as many as fit"""
    cordoned_at: datetime | None
    cordoned_by: str | None
    cordon_reason: str | None
    n_running: int | None
    """jobs; null: its jobs come and go too fast to count them"""
    cpu_used: float | None
    """cores that its jobs have reserved; null: its jobs come and go too fast to count them"""
    memory_used: int | None
    """bytes that its jobs have reserved; null: its jobs come and go too fast to count them"""
    jobs: list[WorkerJob]
    """at most ten of the caller's jobs, oldest first"""
    kept_for: KeptFor | None
    """the large job that is to start there next; null: none"""
    avoids: list[AvoidedNode]
    """nodes behind this gateway on which attempts failed at once"""


class WorkerChange(Answer):
    """A state that somebody gave a worker."""

    at: datetime
    state: Literal["active", "cordoned", "draining", "lost", "deleted"]
    actor: str
    reason: str | None


class WorkerJob(Answer):
    """A job that a worker runs."""

    batch_id: int
    job_id: int
    name: str | None
    index: int | None
    """in an array"""
    user: str


class WorkerLine(Answer):
    """What a worker ran of the batch."""

    worker: str
    n_attempts: int
    """that were read"""
    running: list[float]
    """how many attempts ran on average, for each bucket"""
    attempts: list[AttemptBar] | None
    """null: there are too many to show each"""


class AppDetail(App):
    """An application with what it says of itself."""

    description: Answer
    """wrapper, parameters, inputs and defaults"""


class AppSaved(App):
    """An application that new jobs get."""

    changed: bool
    """false: it had this content before"""


class Batch(CountedJobs):
    """A batch: its state, counts and cost."""

    id: int
    messages: list[UnsentMessages]
    """for its sinks; missing in lists, and if all have arrived"""
    progress: list[JobProgress]
    """what running jobs say, the newest 10; missing in lists, and if none"""
    rate: Rate
    """as submitted; missing if it was not given"""
    resubmitted_from: int
    """missing if none"""
    door: str
    """of a batch that came through a door; missing for others"""
    foreign_id: str
    """its id at the door; missing if none"""
    foreign_trace: str
    """the trace id of the door's client; missing if none"""


class DeadLetter(JobNumber):
    """A job that has failed and is not tried again."""

    cause: str
    """the same for failures of all batches that have it in common"""
    n_alike: int
    """jobs of its batch in this list with the same cause"""
    state: Literal["failed", "error"]
    reason: Literal[
        "exit",
        "signal",
        "timeout",
        "oom",
        "disk",
        "no_program",
        "no_image",
        "bad_spec",
        "cancelled",
        "preempted",
        "lost",
        "log_limit",
        "system",
        "deadline",
        "blocked",
        "overdue",
        "files",
    ]
    exit_code: int | None
    signal: int | None
    message: str | None
    """the last error"""
    attempt: int
    """the last one; 0: it never started"""
    final_retry_count: int
    """how often it was tried again after a failure of its own"""
    failed_at: datetime
    cancelled: bool
    """its group was cancelled: it never runs again"""
    acknowledged: Acknowledgement | None
    """null: it is still to be seen to"""
    door: str
    """through which it came; missing if none"""
    foreign_id: str
    """its id at the door; missing if none"""


class Delivery(Sent):
    """The delivery of the callback of one completion, or of a notice of one event of a job that
    came through a door.
    """

    group_id: int | None
    """of a callback"""
    completion: int | None
    """of a callback"""
    event: str | None
    """of a notice"""
    state: Literal["pending", "delivered", "given_up"]


class FileStoreAnswer(NewFileStore):
    """A store of objects, which shows no credential."""

    is_ready: bool
    """false: the secret that it names was removed"""
    set_by: str | None
    set_at: datetime


class Group(CountedJobs):
    """A job group: its state, counts and cost."""

    batch_id: int
    group_id: int
    kind: Literal["tree", "set"]
    path: str | None
    """of a tree group; null: a set"""
    parent_id: int | None


class Job(JobNumber):
    """A job, as lists show it."""

    name: str | None
    index: int | None
    """within its array; null: not in an array"""
    group_id: int
    """the tree group"""
    groups: list[int]
    """the sets"""
    state: Literal[
        "pending",
        "ready",
        "queued",
        "creating",
        "running",
        "blocked",
        "success",
        "failed",
        "error",
        "cancelled",
    ]
    phase: (
        Literal[
            "assigned",
            "preparing",
            "staging_inputs",
            "submitting",
            "queued_remote",
            "executing",
            "collecting",
            "archiving",
            "publishing",
        ]
        | None
    )
    reason: (
        Literal[
            "exit",
            "signal",
            "timeout",
            "oom",
            "disk",
            "no_program",
            "no_image",
            "bad_spec",
            "cancelled",
            "preempted",
            "lost",
            "log_limit",
            "system",
            "deadline",
            "blocked",
            "overdue",
            "files",
        ]
        | None
    )
    """why the last attempt did not succeed"""
    exit_code: int | None
    signal: int | None
    message: str | None
    """details of its end; while it runs in an engine, what that says of it"""
    attempt: int
    """number of the last attempt; 0: none yet"""
    user: str
    queue: str
    priority: int
    always_run: bool
    held: bool
    """itself or by a group"""
    cost: Decimal
    """in the deployment's currency"""
    duration_ms: int | None
    """milliseconds of the last attempt"""
    ready_at: datetime | None
    started_at: datetime | None
    ended_at: datetime | None
    attributes: Answer
    not_before: datetime
    """as submitted; missing if it was not given"""
    deadline: datetime
    """as submitted; missing if it was not given"""
    concurrency_key: SharedLimit
    """as submitted; missing if it was not given"""
    rate: Rate
    """as submitted; missing if it was not given"""
    preemptible: bool
    """as submitted; missing if it was not given"""
    machine: str
    """as submitted; missing if it was not given"""
    retry: Answer
    """as submitted, with its defaults; missing if not given"""
    external_errors: list[int | str]
    """as submitted; missing if it was not given"""
    exit_codes: Answer
    """as submitted; missing if it was not given"""
    subtype: str
    """of a success by `exit_codes` or an answer; missing for others"""
    retry_with: list[Answer]
    """as submitted; missing if it was not given"""
    licences: Answer
    """as submitted; missing if it was not given"""
    app: str
    """as submitted; missing if it was not given"""
    parameters: Answer
    """as submitted; missing if it was not given"""
    service: Answer
    """as submitted; missing if it was not given"""
    wait: Answer
    """as submitted; missing if it was not given"""
    answer: Answer
    """of a success by `exit_codes` or an answer; missing for others"""
    cache: str
    """as submitted; missing if it was not given"""
    not_cached: str
    """why it runs in spite of `cache`; missing if it need not"""
    outputs_of: str
    """the job whose it has, as `b3.j7`; missing if they are its own"""
    status: str
    """as submitted; missing if it was not given"""
    progress: Progress
    """as it says itself; missing if it says nothing"""
    why: str | None
    """why it waits; null: for nothing; missing if not asked for"""
    need: str
    """of a parent; missing: success"""


class JobCancelled(JobNumber):
    """The result of a cancel of a job."""

    result: str
    """`cancelled`; `cancelling`: it runs; or the state in which it has ended"""


class JobHoldChanged(JobNumber):
    """The result of a hold or a release of a job."""

    result: str
    """`held`, perhaps by a group; `released`; or the state in which it ended"""


class JobProgress(Progress):
    """How far a running job says that it is."""

    job_id: int


class JobStatus(JobNumber):
    """The status of a job, and its state."""

    status: str
    state: Literal[
        "pending",
        "ready",
        "queued",
        "creating",
        "running",
        "blocked",
        "success",
        "failed",
        "error",
        "cancelled",
    ]


class LineSink(UnsentMessages):
    """A sink, and what of up to 10,000 of its messages has not arrived."""

    setup: str
    """the line that has it"""
    removed: bool
    """no line has it now"""
    oldest_at: datetime | None
    """the date of the oldest that is still to be sent"""


class LineSource(Source):
    """A source, how far it is, and what it found last."""

    cursor: Answer | None
    """where the next reading begins"""
    n_waiting: int
    """items without a job; 10000: more"""
    last_items: list[SourceItem]
    """the newest three"""


class LineSourceTried(SourceTried):
    """What would become of one item of a source."""

    messages: list[TriedMessage]
    """if its job ended well"""


class Message(Sent):
    """What a sink is told of a job that ended well."""

    sink: str
    job_id: int
    file: str | None
    """of its job, if each of them is a message"""
    order: str | None
    """those that have the same one are sent in turn"""
    state: Literal["pending", "delivered", "given_up", "held", "dropped"]
    """`held`: a check stops it, until somebody decides"""


class SharedJobWith(SharedWith):
    """What a user may do with one job, because it was shared with them."""

    job_id: int


class ShownCondition(Condition):
    """A condition with the jobs that are due first."""

    jobs: list[WaitingJob]


class ShownPool(PoolAnswer):
    """A pool with its machines."""

    machine_list: list[Machine]
    """oldest first"""


class ShownSchedule(Schedule):
    """A schedule with all that is known of it."""

    document: Answer | None
    """the batch document; null: for its owner only"""
    runs: list[ScheduleRun]
    """newest first"""


class ShownSource(Source):
    """A source with all that is known of it."""

    n_items: Answer
    """by state"""


class ShownWorker(Worker):
    """A worker, with the latest changes of its state."""

    history: list[WorkerChange]
    """newest first"""


class TokenCreated(Token):
    """A new token."""

    token: str
    """keep it: it is shown only now"""


class UpdateCreated(Update):
    """An update that a request created; one with jobs or groups is committed."""

    id: int
    """the batch"""
    trace_id: str
    job_ids: list[int]
    """of the jobs, in the order of the request"""


class UserAdded(User):
    """A new user."""

    token: str
    """their first; hand it over: it is shown only now"""


class WholeDeadMessage(DeadMessage):
    """A message of a transport that nobody wants, with its body."""

    body: str
    """in base64, as far as it was kept"""


class ChangedWorker(ShownWorker):
    """A worker after a request."""

    changed: bool
    """false: it was so before"""


class JobDetail(Job):
    """A job with all its details."""

    parents: list[int]
    """the first 100; `GET …/parents` lists all"""
    n_parents: int | None
    """null: more than 1,000"""
    end_parents: list[int]
    """their end is enough"""
    start_parents: list[int]
    """their start is"""
    share_parents: Answer
    """by the share of them that must succeed"""
    resources: Resources
    max_attempts: int
    times: PhaseTimes
    """in all attempts together"""
    spec: Answer
    """what its executor runs"""
    notes: list[str]
    """of its notes, the newest first; missing: none"""
    key_holders: list[JobNumber]
    """that have its concurrency key, while it waits for that"""
    next_try_at: datetime
    """when it is ready again, while it is blocked"""


class SharedJob(Job):
    """A single job that was shared with the caller, and what they may do with it."""

    permission: Literal["read", "execute", "write", "all"]
    granted_by: str
    granted_at: datetime


PoolFlavour = Flavour
PoolPlan = Pool
QueueChange = QueueDifference
Times = PhaseTimes
