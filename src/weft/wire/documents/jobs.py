"""The documents about jobs."""

from typing import TYPE_CHECKING, Annotated, Any, Literal

from msgspec import Meta, Raw, Struct

from weft.core.graph.parents import ParentRef
from weft.wire.description import says
from weft.wire.documents.apps import JobApp, JobCode, JobParameters, JobRequirements
from weft.wire.documents.containers import JobContainer, JobNetwork
from weft.wire.documents.engines import JobEngine
from weft.wire.documents.field_types import (
    ATTRIBUTES,
    Index,
    MaxAttempts,
    Moment,
    PositiveInt,
    Priority,
    Seconds,
    Umask,
)
from weft.wire.documents.files import JobInputs, JobOutputs
from weft.wire.documents.logs import JobLog
from weft.wire.documents.retries import (
    ExitCodes,
    ExternalErrors,
    RetryDocument,
    RetryOn,
    RetryWith,
)
from weft.wire.documents.secrets import JobSecrets
from weft.wire.documents.services import JobService
from weft.wire.documents.simulations import JobSimulation
from weft.wire.documents.waits import JobWait
from weft.wire.keys import Rate

_AMOUNT: dict[str, Any] = {"type": ["number", "string"]}
RESOURCES_SCHEMA: dict[str, Any] = {
    "type": ["object", "null"],
    "description": "What the job reserves while it runs.",
    "examples": [{"cpu": 2, "memory": "4Gi"}],
    "properties": {
        "cpu": {
            **_AMOUNT,
            "description": 'Above 0; `"250m"` is a quarter of a core.',
            "default": 1,
            "examples": [2, 0.25, "250m"],
            "x-unit": "cores",
        },
        "memory": {
            **_AMOUNT,
            "description": "A number with a unit as text; a bare number counts bytes.",
            "default": "512Mi",
            "examples": ["4Gi", "500M", 1073741824],
            "x-unit": "bytes",
        },
        "storage": {
            **_AMOUNT,
            "description": "Space on the worker's disk, written like `memory`.",
            "default": 0,
            "examples": ["10Gi"],
            "x-unit": "bytes",
        },
        "gpu": {
            "type": "integer",
            "minimum": 0,
            "description": "Whole devices.",
            "default": 0,
            "examples": [1],
        },
    },
    "additionalProperties": {
        "type": ["integer", "string"],
        "description": "What workers offer by name in `worker_offers`: an amount or a word.",
    },
}
if TYPE_CHECKING:
    Resources = Any
else:
    Resources = Annotated[Raw, Meta(extra_json_schema=RESOURCES_SCHEMA)]
"""Raw on the wire: thousands of jobs ask for the same, which is then decoded once."""
INHERIT_ENV = says(
    "The environment of the caller's shell, for all jobs of this request.", {"PATH": "/usr/bin"}
)


class FunctionDocument(Struct, forbid_unknown_fields=True, omit_defaults=True):
    """A Python function: `call` names it, `pickle` holds it, or another job carries it (`of`)."""

    call: Annotated[str | None, says("Names an importable function.", "math:factorial")] = None
    args: Annotated[tuple[Any, ...], says("Positional arguments, as JSON.", [20])] = ()
    kwargs: Annotated[dict[str, Any], says("Keyword arguments, as JSON.", {"base": 2})] = {}
    pickle: Annotated[
        bytes | None, says("A function pickled by cloudpickle; in JSON as base64.")
    ] = None
    of: Annotated[
        int | str | None,
        says("The job that carries the pickled function: its position, or `j7`.", 1, "j7"),
    ] = None
    arguments: Annotated[
        bytes | None, says("Pickled `(args, kwargs)`, instead of both; in JSON as base64.")
    ] = None
    arguments_digest: Annotated[
        str | None,
        says(
            "Instead of `arguments`, if they are large: the SHA-256 in hex of the payload that "
            "was sent to the batch before.",
            "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
        ),
    ] = None
    each: Annotated[
        bool, says("`arguments` is a pickled list of `args`: call once for each of them.")
    ] = False
    python: Annotated[
        str | None, says("The Python version that pickled; other versions refuse it.", "3.12")
    ] = None
    path: Annotated[
        tuple[str, ...], says("Directories of its modules, searched last.", ["/opt/project"])
    ] = ()
    interpreter: Annotated[
        str | None,
        says(
            "The Python program that calls it; where it is missing, the worker's own.",
            "/opt/venv/bin/python",
        ),
    ] = None
    directory: Annotated[
        str | None,
        says(
            "Where it is called, unless the job has a `cwd`; where it is missing, in an empty "
            "directory of the job's own.",
            "/data/project",
        ),
    ] = None


class ConcurrencyKey(Struct, forbid_unknown_fields=True):
    """What jobs share that must not run all at once, such as a database."""

    key: Annotated[str, says("One for all users of a tenant.", "db-x")]
    n: Annotated[
        PositiveInt,
        says(
            "At most this number of jobs with the key run at a time; the last one given counts.", 2
        ),
    ] = 1


class JobDocument(Struct, forbid_unknown_fields=True, omit_defaults=True, gc=False):
    """One job, or with `count` or `values` an array of jobs. Without `command`, `script` and
    `function` it is a no-op that succeeds.
    """

    command: Annotated[
        tuple[str, ...] | None,
        says("Program and arguments; no shell looks at them.", ["sort", "-n", "input.txt"]),
    ] = None
    script: Annotated[
        str | None,
        says(
            "Text that `/bin/sh` runs, or the interpreter that its first line `#!` names; "
            "instead of `command`.",
            "sort -n input.txt | uniq -c > counts.txt",
        ),
    ] = None
    name: Annotated[
        str | None, says("For people, for queries and for `parents`.", "count words")
    ] = None
    env: Annotated[
        dict[str, str] | None,
        says("Variables added to the environment; all values are text.", {"THREADS": "4"}),
    ] = None
    cwd: Annotated[
        str | None,
        says(
            "Absolute path of the directory; without it an empty one of its own, removed at the "
            "end.",
            "/data/run1",
        ),
    ] = None
    stdin: Annotated[str | None, says("Text on standard input; without it nothing.")] = None
    resources: Resources = None
    timeout_s: Annotated[
        Seconds | None,
        says("Time after which an attempt is stopped; without it never.", 3600, unit="seconds"),
    ] = None
    always_run: Annotated[
        bool, says("Run even if a parent failed or the batch was cancelled.")
    ] = False
    parents: Annotated[
        tuple[ParentRef, ...],
        says(
            "Jobs that must end first: names in this document, positions from 1 on, `[first, "
            "last]` for a range of positions, `j7` for an existing job of the batch. The name of "
            "an array means all its jobs, the path of a group all jobs in it. They must also "
            "succeed, unless it is written with `need`: `{of: prepare, need: end}`, or `start`: "
            "then it is enough that it has begun to run. With a share, `95%`, that many of these "
            "jobs must succeed, rounded up; those of one job with the same share count together.",
            ["prepare"],
            [1, [2, 501]],
            [{"of": "prepare", "need": "end"}],
            [{"of": "server", "need": "start"}],
            [{"of": "map", "need": "95%"}],
        ),
    ] = ()
    group: Annotated[
        int | str | None, says("The tree group: a path, or in a bunch a number.", "/stage1/part2")
    ] = None
    groups: Annotated[
        tuple[int | str, ...], says("Sets: names, or in a bunch numbers.", ["pca"])
    ] = ()
    priority: Annotated[
        Priority, says("Among the jobs of one user, a higher one starts first.", 5)
    ] = 0
    attributes: Annotated[dict[str, str] | None, ATTRIBUTES] = None
    max_attempts: Annotated[
        MaxAttempts,
        says("Attempts in all. Those that were lost or preempted are repeated besides.", 3),
    ] = 1
    retry_on: RetryOn = None
    executor: Annotated[
        str | None,
        says(
            "The name of an installed executor, such as `process` or `function`; without it "
            "`function` or `simulation` if there is one, else `process`."
        ),
    ] = None
    function: Annotated[
        FunctionDocument | None, says("A Python function, instead of `command`.")
    ] = None
    count: Annotated[
        PositiveInt | None,
        says(
            "Makes this an array of that many jobs with consecutive numbers. Each has its index "
            "as `WEFT_INDEX`, also replaced in `command` and in values of `env`.",
            1000,
        ),
    ] = None
    values: Annotated[
        list[str] | None,
        says(
            "Instead of `count`: an array with a job for each of these texts. Each has its own "
            "as `WEFT_ARRAY_VALUE`; that and `{value}` are replaced in `command` and in values of "
            "`env`.",
            ["sample-a", "sample-b"],
        ),
    ] = None
    index_from: Annotated[Index, says("Index of the first job of the array.", 1)] = 0
    umask: Annotated[
        Umask | None, says("File mode mask in octal; without it the worker's.", "0077")
    ] = None
    not_before: Annotated[
        Moment | None,
        says("It waits until then: a time with its zone (RFC 3339).", "2027-01-01T02:00:00Z"),
    ] = None
    deadline: Annotated[
        Moment | None,
        says(
            "Time by which it must have ended (RFC 3339). It fails when `timeout_s` does not fit "
            "any more, and is stopped at that time.",
            "2027-01-01T06:00:00Z",
        ),
    ] = None
    concurrency_key: Annotated[
        ConcurrencyKey | None,
        says("Limits how many jobs with this key run at a time.", {"key": "db-x", "n": 2}),
    ] = None
    rate: Annotated[
        Rate | None,
        says(
            "Limits how many jobs with this key start in a period.",
            {"key": "api", "n": 10, "per_s": 1},
        ),
    ] = None
    queue: Annotated[
        str | None,
        says("The queue in which it waits; without it the first whose guard is true.", "short"),
    ] = None
    preemptible: Annotated[
        bool | None,
        says(
            "It may be stopped while it runs and started again from the beginning: for a job of a "
            "queue of higher priority, or because its machine is taken back."
        ),
    ] = None
    machine: Annotated[
        str | None,
        says(
            "A flavour of a pool of its queue: a machine of it is made for this job alone, and "
            "goes when the job has ended.",
            "large",
        ),
    ] = None
    retry: Annotated[
        RetryDocument | None,
        says(
            "How long it waits before another attempt; without it not at all. It needs "
            "`max_attempts`.",
            {"policy": "exponential", "first_s": 10, "longest_s": 300},
        ),
    ] = None
    external_errors: ExternalErrors = None
    exit_codes: ExitCodes = None
    retry_with: RetryWith = None
    secrets: JobSecrets = None
    network: JobNetwork = None
    log: JobLog = None
    simulation: JobSimulation = None
    container: JobContainer = None
    engine: JobEngine = None
    app: JobApp = None
    parameters: JobParameters = None
    inputs: JobInputs = None
    outputs: JobOutputs = None
    service: JobService = None
    wait: JobWait = None
    code: JobCode = None
    requirements: JobRequirements = None
    cache: Annotated[
        Literal["inputs", "off"] | None,
        says(
            "`inputs`: it does not run if one of yours with the same command, environment, code "
            "and inputs has succeeded and its output is kept; it has its files then.",
            "inputs",
        ),
    ] = None

    @property
    def array_size(self) -> int | None:
        """Return the number of jobs of an array; None: it is no array."""
        return self.count if self.values is None else len(self.values)
