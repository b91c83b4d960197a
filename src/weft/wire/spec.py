"""The specification of a job, as it is stored and as the worker reads it.

A spec never changes after submission. Many specs are stored together in one compressed value,
a *chunk* (`weft.job_spec`). The chunk of an array holds one template for all its jobs, and the
values of a part of an array over values. Only this module knows the format of a chunk.
"""

import re
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, Final, NamedTuple, TypeVar, overload

import msgspec

from weft.core.text.shell_script import (
    Quoting,
    Unsafe,
    is_plain,
    quoted,
    quoting_before,
    script_words,
)
from weft.wire.documents.apps import CodeDocument, RequirementsDocument
from weft.wire.documents.containers import ContainerDocument
from weft.wire.documents.engines import EngineOptions
from weft.wire.documents.files import FileInput, FileOutput
from weft.wire.documents.logs import LogDocument
from weft.wire.documents.secrets import SecretUse
from weft.wire.documents.services import ServiceDocument
from weft.wire.documents.simulations import SimulationDocument

INDEX_VARIABLE: Final = "WEFT_INDEX"
VALUE_VARIABLE: Final = "WEFT_ARRAY_VALUE"
ANSWERS_VARIABLE: Final = "WEFT_ANSWERS"
_INDEX = re.compile(r"\$(?:WEFT_INDEX(?![A-Za-z0-9_])|\{WEFT_INDEX\})")
_VALUE = re.compile(r"\{value\}|\$(?:WEFT_ARRAY_VALUE(?![A-Za-z0-9_])|\{WEFT_ARRAY_VALUE\})")
_PLACE: Final = "{value}"
_EITHER = re.compile(f"{_INDEX.pattern}|{_VALUE.pattern}")


class FunctionSpec(msgspec.Struct, frozen=True, omit_defaults=True):
    """A Python function and its arguments: by name, or as its owner pickled them."""

    call: str | None = None
    """`package.module:name`."""
    args: tuple[Any, ...] = ()
    kwargs: dict[str, Any] = {}
    pickle: bytes | None = None
    """The function itself. Without this and `call` it is that of the job `JobSpec.shares`."""
    arguments: bytes | None = None
    """Pickled `(args, kwargs)`; with `each` a list of `args`."""
    each: bool = False
    python: str | None = None
    path: tuple[str, ...] = ()
    interpreter: str | None = None
    directory: str | None = None
    arguments_digest: str | None = None
    """The payload of the batch that is read as `arguments`. These are empty then.
    """
    arguments_file: str | None = None
    """Where the agent has put that payload; never stored."""


class AppSpec(msgspec.Struct, frozen=True, omit_defaults=True):
    """An application that a job runs; its parameters are in the job's environment."""

    name: str
    """`name-version`."""
    digest: str
    """Of its packed folder, which workers fetch once, in hex."""
    wrapper: str
    """The script in the folder that `bash` runs."""
    n_bytes_max: int = 1 << 30
    """How much it may hold unpacked."""
    folder: str | None = None
    """Where the agent has unpacked it; never stored."""


class JobSpec(msgspec.Struct, frozen=True, omit_defaults=True, array_like=False):
    """What an executor needs to run a job. No `command`, `script`, `function` or `simulation`: a
    no-op that succeeds. What stands before `inherit_env` is taken from the job document, by its
    name there.
    """

    command: tuple[str, ...] | None = None
    script: str | None = None
    env: dict[str, str] | None = None
    cwd: str | None = None
    stdin: str | None = None
    timeout_s: float | None = None
    umask: str | None = None
    """File mode mask in octal; None: the worker's."""
    secrets: tuple[SecretUse, ...] | None = None
    """What it gets when it starts."""
    network: bool | None = None
    """False: it gets none."""
    log: LogDocument | None = None
    simulation: SimulationDocument | None = None
    container: ContainerDocument | None = None
    engine: EngineOptions | None = None
    """What it chooses of the engine that runs it."""
    inputs: tuple[FileInput, ...] | None = None
    """Files that it gets before it starts."""
    outputs: tuple[FileOutput, ...] | None = None
    """Files that are kept when it has ended."""
    code: CodeDocument | None = None
    """Files that it begins with."""
    requirements: RequirementsDocument | None = None
    """Packages that it finds first."""
    service: ServiceDocument | None = None
    """It runs beneath a minder, which asks whether it is healthy."""
    inherit_env: dict[str, str] | None = None
    """The environment of the caller's shell, of `weft run` and `weft each`.

    Shared by all jobs of a chunk.
    """
    executor: str = "process"
    trace_id: str | None = None
    function: FunctionSpec | None = None
    shares: int | None = None
    """The job of the batch whose spec holds what this one leaves out: its number or, if negative,
    how many jobs before this one it is. It is the first of its chunk.
    """
    original: bytes | None = None
    """The document in which a door received the job, or one that differs from it by the job's
    number and command only; None: it came through none.
    """
    identity: dict[str, str] | None = None
    """Variables of the other system that say who the job is. In their values `{batch}`, `{job}`
    and `{attempt}` stand for its numbers; `env` wins over them. The output of such a job is one
    stream, as it is there.
    """
    own_paths: tuple[str, ...] | None = None
    """Where it finds its own directory besides: absolute paths that need not exist. At one with a
    slash at its end it finds what its directory has at that path.
    """
    app: AppSpec | None = None
    """The job's program, instead of a command."""
    answers: bool | None = None
    """Whether one of its parents may have been answered, so that the agent looks it up."""
    requires: tuple[str, ...] = ()
    """What a runner must know of to run it as it should, such as `SECRETS`; each once. A runner
    that does not know one of them does not run the job.
    """


SHARED_FIELDS: Final = JobSpec.__struct_fields__[: JobSpec.__struct_fields__.index("inherit_env")]
"""What a spec takes from the job document as it is."""


SECRETS: Final = "secrets"
NO_NETWORK: Final = "no network"
CONTAINER: Final = "a container"
FILES: Final = "files"
SERVICE: Final = "a service"
ENGINE_OPTIONS: Final = "a choice of its engine"
CODE: Final = "code that travels with it"
PACKAGES: Final = "packages of its requirements"
REQUIREMENTS: Final = frozenset(
    {SECRETS, NO_NETWORK, CONTAINER, FILES, ENGINE_OPTIONS, SERVICE, CODE, PACKAGES}
)
"""All that jobs may require of their runner."""


def requiring(spec: JobSpec, one: str) -> JobSpec:
    """Return the spec with one requirement more."""
    if one in spec.requires:
        return spec
    return msgspec.structs.replace(spec, requires=(*spec.requires, one))


_Files = TypeVar("_Files", tuple[FileInput, ...] | None, tuple[FileOutput, ...] | None)


class ArrayRange(NamedTuple):
    """The indices of an array, or of a part of one: `n_jobs` from the first on."""

    first_index: int
    n_jobs: int


class _Chunk(msgspec.Struct, frozen=True, array_like=True):
    """Consecutive specs, and what they all share. Of an array the one spec is the template."""

    inherit_env: dict[str, str] | None
    specs: list[JobSpec]
    array: ArrayRange | None = None
    values: list[str] | None = None
    """Of an array over values."""
    shared: "SharedByDoor | None" = None
    """What stands in no spec of the chunk then."""


class SharedByDoor(msgspec.Struct, frozen=True, array_like=True):
    """What jobs share that a door received: these fields of their specs."""

    original: bytes | None
    identity: dict[str, str] | None
    own_paths: tuple[str, ...] | None


class ArraySpecs(Sequence[JobSpec]):
    """The specs of an array; each is made from the template when it is asked for."""

    def __init__(
        self, template: JobSpec, array: ArrayRange, values: Sequence[str] | None = None
    ) -> None:
        self._template = template
        self._array = array
        self._values = values

    def __len__(self) -> int:
        return self._array.n_jobs

    @overload
    def __getitem__(self, index: int) -> JobSpec: ...
    @overload
    def __getitem__(self, index: slice) -> list[JobSpec]: ...
    def __getitem__(self, index: int | slice) -> JobSpec | list[JobSpec]:
        indices = range(self._array.n_jobs)[index]
        if isinstance(indices, int):
            return self._at(indices)
        return [self._at(one) for one in indices]

    def _at(self, index: int) -> JobSpec:
        value = None if self._values is None else self._values[index]
        spec = spec_at(self._template, self._array.first_index + index, value)
        if spec.shares is not None and spec.shares < 0:
            return msgspec.structs.replace(spec, shares=spec.shares - index)
        return spec


def spec_at(template: JobSpec, index: int, value: str | None = None) -> JobSpec:
    """Return the spec of one job of an array, `value`: of one over values.

    `$WEFT_INDEX` and `${WEFT_INDEX}` in argv, in values of the environment and in paths of files
    become the index, and it is an environment variable, too. So does `{value}`, or
    `$WEFT_ARRAY_VALUE` likewise. In the script of `sh -c` the value is quoted, or read by the
    shell itself from its environment.
    """
    command, env = template.command, template.env or {}
    own = {INDEX_VARIABLE: str(index)}
    if value is not None:
        own[VALUE_VARIABLE] = value
    return msgspec.structs.replace(
        template,
        command=None if command is None else filled_command(command, own),
        env={**{name: _filled(text, own) for name, text in env.items()}, **own},
        inputs=filled_files(template.inputs, own),
        outputs=filled_files(template.outputs, own),
    )


def filled_command(command: tuple[str, ...], own: Mapping[str, str]) -> tuple[str, ...]:
    """Return a command of an array as one of its jobs has it. `own`: its variables."""
    scripts = _scripts(command) if VALUE_VARIABLE in own else {}
    return tuple(
        _filled_script(word, own, quotes=scripts[at]) if at in scripts else _filled(word, own)
        for at, word in enumerate(command)
    )


def unsafe_value(command: tuple[str, ...], values: Iterable[str]) -> str | None:
    """Return the first of these values that a shell could run where `{value}` stands in its
    script, or None.
    """
    for at, quotes in _scripts(command).items():
        word = command[at]
        matches = [match for match in _VALUE.finditer(word) if match[0] == _PLACE]
        if any(_quoting(word, match, quotes=quotes) is Quoting.UNKNOWN for match in matches):
            return next((value for value in values if not is_plain(value)), None)
    return None


def _filled_script(script: str, own: Mapping[str, str], *, quotes: bool) -> str:
    def filled(match: re.Match[str]) -> str:
        if _INDEX.match(match[0]):
            return own[INDEX_VARIABLE]
        try:
            return quoted(own[VALUE_VARIABLE], _quoting(script, match, quotes=quotes))
        except Unsafe:
            return match[0]  # a shell reads the variable; `{value}` was refused

    return _EITHER.sub(filled, script)


def _quoting(script: str, match: re.Match[str], *, quotes: bool) -> Quoting:
    return quoting_before(script[: match.start()]) if quotes else Quoting.UNKNOWN


@lru_cache(maxsize=64)
def _scripts(command: tuple[str, ...]) -> Mapping[int, bool]:
    """Return which words with a value are scripts of a shell: one that is nothing but a place is
    a script that the value itself is.
    """
    return {
        at: quotes
        for at, quotes in script_words(command).items()
        if _VALUE.search(command[at]) and not _VALUE.fullmatch(command[at])
    }


def filled_files(files: _Files, own: Mapping[str, str]) -> _Files:
    """Return files of an array as one of its jobs has them. `own`: its variables."""
    if files is None:
        return None
    return tuple(
        msgspec.structs.replace(
            one, from_=_filled(one.from_, own), to=None if one.to is None else _filled(one.to, own)
        )
        for one in files
    )


def _filled(text: str, own: Mapping[str, str]) -> str:
    """Replace the variables of an array's job. What stands in a value is left as it is."""
    if VALUE_VARIABLE not in own:
        return _INDEX.sub(own[INDEX_VARIABLE], text)
    return _EITHER.sub(
        lambda match: own[INDEX_VARIABLE if _INDEX.match(match[0]) else VALUE_VARIABLE], text
    )


def have_functions(specs: Sequence[JobSpec]) -> bool:
    """Say whether any of the specs of a chunk calls a function; those of an array are alike."""
    few = specs[:1] if isinstance(specs, ArraySpecs) else specs
    return any(spec.function is not None for spec in few)


_ENCODER = msgspec.msgpack.Encoder()
_DECODER = msgspec.msgpack.Decoder(_Chunk)
CHUNK_JOBS_MAX = 256
"""A worker that claims one job reads its whole chunk, so chunks are small.

256 similar specs compress well.
"""
CHUNK_VALUES_MAX = 1000
CHUNK_BYTES_MAX = 256 * 1024
"""Before compression, without what is shared. A longer spec is a chunk of its own."""


def pack_specs(
    specs: list[JobSpec],
    inherit_env: dict[str, str] | None = None,
    shared: SharedByDoor | None = None,
) -> bytes:
    """Encode the specs of consecutive jobs; `inherit_env`, `shared`: kept once for all of them."""
    return _ENCODER.encode(_Chunk(inherit_env, specs, shared=shared))


def cut_values(values: Sequence[str]) -> Iterator[tuple[int, Sequence[str]]]:
    """Yield the parts of an array over values, each for a chunk of its own, and where they begin:
    a worker that claims one job reads its whole chunk.
    """
    start = size = 0
    for index, value in enumerate(values):
        size += 4 * len(value)  # at most
        if index > start and (size > CHUNK_BYTES_MAX or index - start >= CHUNK_VALUES_MAX):
            yield start, values[start:index]
            start, size = index, 4 * len(value)
    yield start, values[start:]


def encode_array(
    template: JobSpec,
    array: ArrayRange,
    inherit_env: dict[str, str] | None = None,
    values: list[str] | None = None,
) -> bytes:
    """Make the chunk of an array: one template, however many jobs, and one value for each."""
    return compress_chunk(_ENCODER.encode(_Chunk(inherit_env, [template], array, values)))


def compress_chunk(packed: bytes) -> bytes:
    """Make a chunk of what `pack_specs` returned."""
    return zlib.compress(packed, 1)


def encode_chunk(specs: list[JobSpec], inherit_env: dict[str, str] | None = None) -> bytes:
    """Make a chunk of the specs of consecutive jobs."""
    return compress_chunk(pack_specs(specs, inherit_env))


def decode_chunk(body: bytes) -> Sequence[JobSpec]:
    """Return the specs in the order of their job numbers. They share one `inherit_env`."""
    return unpack_specs(zlib.decompress(body))


def unpack_specs(packed: bytes) -> Sequence[JobSpec]:
    """Return the specs that `pack_specs` has encoded."""
    chunk = _DECODER.decode(packed)
    specs = chunk.specs
    if chunk.inherit_env is not None:
        specs = [msgspec.structs.replace(spec, inherit_env=chunk.inherit_env) for spec in specs]
    if chunk.shared is not None:
        fields = msgspec.structs.asdict(chunk.shared)
        specs = [msgspec.structs.replace(spec, **fields) for spec in specs]
    if chunk.array is None:
        return specs
    return ArraySpecs(specs[0], chunk.array, chunk.values)


def part_of_array(
    body: bytes, first: int, n_jobs: int, changed: Callable[[JobSpec], JobSpec]
) -> bytes | None:
    """Make the chunk of `n_jobs` jobs of an array, from its `first` on, which is 0 for all; None:
    the chunk is not that of an array. `changed` returns the template that they have.
    """
    chunk = _DECODER.decode(zlib.decompress(body))
    if chunk.array is None:
        return None
    template = chunk.specs[0]
    array = ArrayRange(chunk.array.first_index + first, n_jobs)
    values = None if chunk.values is None else chunk.values[first : first + n_jobs]
    return encode_array(changed(template), array, chunk.inherit_env, values)
