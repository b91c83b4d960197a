"""The documents that clients send, as JSON or msgpack.

The decoder checks types and plain ranges as declared here; `api/translation/` checks what depends
on settings, on other jobs or on the workers. An unknown field is an error in every document.
"""

from typing import TYPE_CHECKING, Annotated, Any, Literal

from msgspec import UNSET, Meta, Raw, Struct, UnsetType

if TYPE_CHECKING:
    Resources = Any
else:
    Resources = Raw
"""Raw on the wire: thousands of jobs ask for the same, which is then decoded once."""

PositiveInt = Annotated[int, Meta(ge=1, le=2_000_000_000)]
"""Fits the database's `integer`."""
JobCount = Annotated[int, Meta(ge=0, le=2_000_000_000)]
GroupCount = Annotated[int, Meta(ge=0, le=100_000_000)]
Index = Annotated[int, Meta(ge=0, le=2_000_000_000)]
Priority = Annotated[int, Meta(ge=-1000, le=1000)]
MaxAttempts = Annotated[int, Meta(ge=1, le=100)]
Seconds = Annotated[float, Meta(gt=0, le=31_536_000)]
Umask = Annotated[str, Meta(pattern="^0?[0-7]{3}$")]
GroupKind = Literal["tree", "set"]
RelativeNumber = Annotated[int, Meta(ge=-2_000_000_000, le=2_000_000_000)]


class FunctionDocument(Struct, forbid_unknown_fields=True, omit_defaults=True):
    """A Python function: `call` names it, `pickle` holds it, or another job carries it (`of`)."""

    call: str | None = None
    """`package.module:name`."""
    args: tuple[Any, ...] = ()
    kwargs: dict[str, Any] = {}
    pickle: bytes | None = None
    """A function pickled by cloudpickle; in JSON as base64."""
    of: int | str | None = None
    """The job that carries the pickled function, as in `parents`: its number within the update, or
    `"j7"`.
    """
    arguments: bytes | None = None
    """Pickled `(args, kwargs)`, instead of both; in JSON as base64."""
    each: bool = False
    """`arguments` is a pickled list of `args`: call once for each of them."""
    python: str | None = None
    """The Python version that pickled, such as `3.12`; other versions refuse it."""
    path: tuple[str, ...] = ()
    """Directories of its modules, searched last."""


class JobDocument(Struct, forbid_unknown_fields=True, omit_defaults=True, gc=False):
    """One job, or with `count` an array of jobs. Without `command`, `script` and `function` it is
    a no-op that succeeds.
    """

    command: tuple[str, ...] | None = None
    """Program and arguments."""
    script: str | None = None
    """Text for the shell, instead of a command."""
    name: str | None = None
    env: dict[str, str] | None = None
    cwd: str | None = None
    """Absolute path; default: an empty directory of its own."""
    stdin: str | None = None
    resources: Resources = None
    """`{cpu, memory, storage, gpu}`."""
    timeout_s: Seconds | None = None
    always_run: bool = False
    parents: tuple[int | str | tuple[int, int], ...] = ()
    """Numbers within the update, `[first, last]` for a range of them, `"j7"` for an existing job
    of the batch, or names within the document. The name of an array means all its jobs.
    """
    group: int | str | None = None
    """The tree group: a path, or in a bunch a number."""
    groups: tuple[int | str, ...] = ()
    """Sets: names, or in a bunch numbers."""
    priority: Priority = 0
    attributes: dict[str, str] | None = None
    max_attempts: MaxAttempts = 1
    retry_on: tuple[str, ...] | None = None
    """Reasons of failure after which another attempt is made; default: all that another attempt
    may cure.
    """
    executor: str | None = None
    """None: `function` if there is one, else `process`."""
    function: FunctionDocument | None = None
    count: PositiveInt | None = None
    """An array of this many jobs with consecutive numbers. Each job has its index as `WEFT_INDEX`,
    which is also replaced in `command` and in values of `env`.
    """
    index_from: Index = 0
    """Index of the first job of the array."""
    umask: Umask | None = None
    """File mode mask in octal, such as `"0077"`; default: the worker's."""


class GroupDocument(Struct, forbid_unknown_fields=True, omit_defaults=True):
    """A group in a document that is submitted in one request: `path` for a tree group, whose
    missing ancestors are created, or `name` for a set.
    """

    path: str | None = None
    name: str | None = None
    kind: GroupKind | None = None
    attributes: dict[str, str] = {}
    cancel_after_n_failures: PositiveInt | None = None
    callback: str | None = None


class GroupInBunch(Struct, forbid_unknown_fields=True, omit_defaults=True):
    """A group in a bunch. `parent`: a number within the update, 0 the root, -3 the existing group
    3; a set has none.
    """

    name: str
    parent: RelativeNumber = 0
    kind: GroupKind = "tree"
    attributes: dict[str, str] = {}
    cancel_after_n_failures: PositiveInt | None = None
    callback: str | None = None


class QuerySetDocument(Struct, forbid_unknown_fields=True, omit_defaults=True):
    """`POST …/groups?q=…`: the set that the query fills."""

    name: str | None = None
    attributes: dict[str, str] = {}
    cancel_after_n_failures: PositiveInt | None = None
    callback: str | None = None


class MembersDocument(Struct, forbid_unknown_fields=True):
    """`POST …/groups/{g}/members`: jobs of the batch, by their numbers."""

    jobs: list[PositiveInt]


class BatchDocument(Struct, forbid_unknown_fields=True, omit_defaults=True):
    """`POST /v1/batches`: a batch, optionally with its first groups and jobs, committed."""

    name: str | None = None
    billing_project: str = "default"
    attributes: dict[str, str] = {}
    callback: str | None = None
    cancel_after_n_failures: PositiveInt | None = None
    max_running: PositiveInt | None = None
    groups: list[GroupDocument] = []
    jobs: list[JobDocument] = []
    inherit_env: dict[str, str] | None = None
    """The environment of the caller's shell, for all jobs of this request."""


class UpdateDocument(Struct, forbid_unknown_fields=True, omit_defaults=True):
    """`POST …/updates`: either numbers to reserve, or groups and jobs to commit."""

    n_jobs: JobCount = 0
    n_groups: GroupCount = 0
    groups: list[GroupDocument] = []
    jobs: list[JobDocument] = []
    inherit_env: dict[str, str] | None = None


class JobBunch(Struct, forbid_unknown_fields=True, omit_defaults=True):
    """`POST …/updates/{u}/jobs`: consecutive jobs, the first is number `first` of the update."""

    first: PositiveInt
    jobs: list[JobDocument]
    inherit_env: dict[str, str] | None = None


class GroupBunch(Struct, forbid_unknown_fields=True, omit_defaults=True):
    """`POST …/updates/{u}/groups`: consecutive groups, the first of them number `first` of
    the update.
    """

    first: PositiveInt
    groups: list[GroupInBunch]


class CancelDocument(Struct, forbid_unknown_fields=True, omit_defaults=True):
    """`POST …/cancel`. `force`: also jobs with `always_run`."""

    force: bool = False


class EditDocument(Struct, forbid_unknown_fields=True, omit_defaults=True):
    """`PATCH` of a batch, a group or a job: a JSON merge patch (RFC 7396). A missing field stays
    unchanged, null removes.
    """

    name: str | UnsetType | None = UNSET
    attributes: dict[str, str | None] | UnsetType | None = UNSET
    priority: Priority | UnsetType = UNSET
    """Of a job that has not ended, or of all such jobs that a batch or group has now. Jobs that
    are added later have their own.
    """


class Empty(Struct, forbid_unknown_fields=True):
    """A request that needs only its path."""
