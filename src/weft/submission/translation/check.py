"""Check the texts of jobs: commands, environments, names, attributes."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from operator import itemgetter
from typing import Final

from weft.core.access.secret_variables import MASK, is_masked
from weft.core.deliveries.sinks import wrong_sinks
from weft.core.errors import EmptyCommand, EnvironmentTooLarge, InvalidValue, NulCharacter
from weft.core.ids import BATCH
from weft.core.problems import Problems, pointer_of
from weft.core.text.texts import wrong_attributes, wrong_key, wrong_name
from weft.settings import Settings
from weft.submission.translation.context import DocumentContext
from weft.wire.documents.foreign_jobs import ForeignJob
from weft.wire.documents.jobs import JobDocument
from weft.wire.keys import Unique
from weft.wire.spec import JobSpec, spec_at, unsafe_value

INDEX_MAX = 2_000_000_000
PATH_CHARS_MAX = 4096
FOREIGN_ARGV_BYTES_MAX: Final = 8 << 20
"""Of jobs that came through a door, whose contract may know no limit but that of the request: a
command that the kernel cannot take is an error of the job.
"""
_BYTES_OF_CHAR: Final = 4
"""At most, in UTF-8: most texts need not be encoded to be measured."""


def check_jobs(jobs: Sequence[JobDocument], context: DocumentContext, problems: Problems) -> None:
    """Note everything that is wrong with the texts of these jobs.

    Names, attributes and commands are looked at together first, and one by one only if something
    is wrong with any.
    """
    settings, ordinary = context.settings, context.ordinary
    if not _are_names_right(jobs, settings):
        for index, job in enumerate(jobs):
            check_name(job.name, settings, problems, f"/jobs/{index}/name")
    if not _are_attributes_right(jobs, settings):
        for index, job in enumerate(jobs):
            check_attributes(job.attributes, settings, problems, f"/jobs/{index}/attributes")
    most = settings.argv_bytes_max
    if jobs and isinstance(jobs[0], ForeignJob):
        most = max(most, FOREIGN_ARGV_BYTES_MAX)
    inherited_bytes = _inherited_bytes(context.inherit_env, settings, problems)
    check = _JobCheck(settings, problems, inherited_bytes, most)
    some_wrong = not _are_commands_right(jobs, check.own_bytes_max)
    for index, job in enumerate(jobs):
        if (
            some_wrong
            or not ordinary
            or job.env
            or job.script is not None
            or job.cwd is not None
            or job.index_from
            or job.stdin is not None
        ):
            check.check(index, job)


def _are_names_right(jobs: Sequence[JobDocument], settings: Settings) -> bool:
    names = [job.name for job in jobs if job.name is not None]
    if not names:
        return True
    lengths = set(map(len, names))
    return (
        min(lengths) > 0
        and max(lengths) <= settings.name_chars_max
        and "".join(names).isprintable()
    )


def _are_attributes_right(jobs: Sequence[JobDocument], settings: Settings) -> bool:
    """Say whether all attributes are within the limits, each as large as the largest of its kind
    could be.
    """
    given = [job.attributes for job in jobs if job.attributes]
    if not given:
        return True
    keys = set(chain.from_iterable(given))
    values = list(chain.from_iterable(map(dict.values, given)))
    longest = max(map(len, keys)) + max(map(len, values))
    return (
        max(map(len, given)) <= settings.attributes_max
        and _BYTES_OF_CHAR * longest <= settings.attribute_bytes_max
        and "" not in keys
        and "".join(keys).isprintable()
        and "\0" not in "".join(values)
    )


def _are_commands_right(jobs: Sequence[JobDocument], bytes_max: int) -> bool:
    """Say whether all commands name a program, have no NUL, and are certainly short enough."""
    commands = [job.command for job in jobs if job.command is not None]
    if not all(commands) or not all(map(itemgetter(0), commands)):
        return False
    # As the kernel counts, there is a byte after each argument.
    texts = list(map(" ".join, commands))
    longest = max(map(len, texts), default=0)
    return _BYTES_OF_CHAR * (longest + 1) <= bytes_max and "\0" not in "".join(texts)


def check_name(name: str | None, settings: Settings, problems: Problems, pointer: str) -> None:
    """Note a name that is not allowed."""
    if name is not None and (wrong := wrong_name(name, chars_max=settings.name_chars_max)):
        problems.add(InvalidValue, pointer, wrong)


def refuse_id(name: object, problems: Problems) -> None:
    """Note a name of a batch that every command would take for an id."""
    if isinstance(name, str) and BATCH.fullmatch(name):
        problems.add(InvalidValue, "/name", "commands would take it for the id of a batch")


def check_unique(unique: Unique | None, settings: Settings, problems: Problems) -> None:
    """Note a key that is not allowed."""
    if unique is None:
        return
    check_name(unique.key, settings, problems, "/unique/key")
    if unique.within_s is not None and unique.on_conflict == "replace":
        message = "only with `skip` or `extend`: what has ended cannot be replaced"
        problems.add(InvalidValue, "/unique/within_s", message)
    if unique.within_s is None and unique.on_conflict == "extend":
        problems.add(InvalidValue, "/unique/within_s", "it is missing: `extend` begins it anew")


def check_sinks(sinks: str | list[str] | None, problems: Problems) -> None:
    """Note sinks that no setup can have, or that are named twice."""
    if wrong := wrong_sinks(sinks):
        problems.add(InvalidValue, "/sink", wrong)


def check_attributes(
    attributes: Mapping[str, str] | None, settings: Settings, problems: Problems, pointer: str
) -> None:
    """Note attributes that are too many, too long or not text."""
    if not attributes:
        return
    wrong = wrong_attributes(
        attributes, count_max=settings.attributes_max, bytes_max=settings.attribute_bytes_max
    )
    if wrong:
        key, message = wrong
        has_nul = key is not None and "\0" in key + attributes[key]
        kind = NulCharacter if has_nul else InvalidValue
        problems.add(kind, pointer + (pointer_of(key) if key is not None else ""), message)


def check_removed(
    keys: Iterable[str], settings: Settings, problems: Problems, pointer: str
) -> None:
    """Note keys to be removed that no attribute can have: the database cannot take all of them."""
    for key in keys:
        wrong = wrong_key(key)
        if not wrong and (size := len(key.encode())) > settings.attribute_bytes_max:
            wrong = f"{size} bytes, at most {settings.attribute_bytes_max} (attribute_bytes_max)"
        if wrong:
            kind = NulCharacter if "\0" in key else InvalidValue
            problems.add(kind, pointer + pointer_of(key), wrong)


@dataclass(frozen=True)
class _JobCheck:
    settings: Settings
    problems: Problems
    inherited_bytes: int
    argv_bytes_max: int

    @property
    def own_bytes_max(self) -> int:
        return max(0, self.argv_bytes_max - self.inherited_bytes)

    def check(self, index: int, job: JobDocument) -> None:
        """Note what is wrong with one job."""
        at = f"/jobs/{index}"
        self._check_command(job, at)
        if job.env:
            _check_env(job.env, self.problems, f"{at}/env")
        self._check_size(job, at)
        if job.values is not None:
            self._check_values(job, job.values, at)
        if job.cwd is not None:
            self._check_cwd(job.cwd, f"{at}/cwd")
        for name, text in (("stdin", job.stdin), ("script", job.script)):
            if text is not None:
                self._check_text_size(name, text, at)
        self._check_array(job, at)

    def _check_command(self, job: JobDocument, at: str) -> None:
        add = self.problems.add
        if job.command is not None:
            if not job.command or not job.command[0]:
                add(EmptyCommand, f"{at}/command", "it names no program")
            for n, argument in enumerate(job.command):
                if "\0" in argument:
                    add(NulCharacter, f"{at}/command/{n}", "an argument cannot contain NUL")
        if job.script is not None:
            if job.command is not None:
                add(InvalidValue, f"{at}/script", "a job has a command or a script, not both")
            if not job.script.strip():
                add(EmptyCommand, f"{at}/script", "it is empty")
            if "\0" in job.script:
                add(NulCharacter, f"{at}/script", "a script cannot contain NUL")

    def _check_size(self, job: JobDocument, at: str) -> None:
        texts, env = job.command or (), job.env or {}
        words = [*texts, *env, *env.values()]
        if _BYTES_OF_CHAR * (sum(map(len, words)) + len(words)) <= self.own_bytes_max:
            return
        size = _size_of(texts, env)
        if size > self.own_bytes_max:
            field = "env" if 2 * _size_of((), env) > size else "command"
            most, whole = self.argv_bytes_max, size + self.inherited_bytes
            message = f"arguments and environment have {whole} bytes, at most {most}"
            self.problems.add(InvalidValue, f"{at}/{field}", message)

    def _check_values(self, job: JobDocument, values: Sequence[str], at: str) -> None:
        add = self.problems.add
        if job.count is not None:
            add(InvalidValue, f"{at}/values", "an array has a `count` or `values`, not both")
        if not values:
            add(InvalidValue, f"{at}/values", "an array has at least one value")
            return
        for n, value in enumerate(values):
            if "\0" in value:
                add(NulCharacter, f"{at}/values/{n}", "a value cannot contain NUL")
        unsafe = unsafe_value(job.command, values) if job.command else None
        if unsafe is not None:
            message = (
                f"the shell could run the value {unsafe[:80]!r} where `{{value}}` stands: write "
                '`"$WEFT_ARRAY_VALUE"` there'
            )
            add(InvalidValue, f"{at}/command", message)
        longest = max(range(len(values)), key=lambda n: len(values[n].encode()))
        filled = spec_at(JobSpec(job.command, env=job.env), INDEX_MAX, values[longest])
        size = _size_of(filled.command or (), filled.env or {})
        if size + self.inherited_bytes > self.settings.argv_bytes_max:
            most, whole = self.settings.argv_bytes_max, size + self.inherited_bytes
            message = f"with it arguments and environment have {whole} bytes, at most {most}"
            add(InvalidValue, f"{at}/values/{longest}", f"{message} (argv_bytes_max)")

    def _check_array(self, job: JobDocument, at: str) -> None:
        message, last = None, job.index_from + (job.array_size or 1) - 1
        if job.array_size is None and job.index_from:
            message = "only an array has indices; set `count` to its number of jobs"
        elif last > INDEX_MAX:
            message = f"the last index is {last}, at most {INDEX_MAX}"
        if message is not None:
            self.problems.add(InvalidValue, f"{at}/index_from", message)

    def _check_text_size(self, name: str, text: str, at: str) -> None:
        most: int = getattr(self.settings, f"{name}_bytes_max")
        if _BYTES_OF_CHAR * len(text) > most and (size := len(text.encode())) > most:
            message = f"{size} bytes, at most {most} ({name}_bytes_max)"
            self.problems.add(InvalidValue, f"{at}/{name}", message)

    def _check_cwd(self, cwd: str, pointer: str) -> None:
        if "\0" in cwd:
            self.problems.add(NulCharacter, pointer, "a path cannot contain NUL")
        elif not cwd.startswith("/"):
            self.problems.add(InvalidValue, pointer, "not an absolute path")
        elif len(cwd) > PATH_CHARS_MAX:
            message = f"{len(cwd)} characters, at most {PATH_CHARS_MAX}"
            self.problems.add(InvalidValue, pointer, message)


def _size_of(texts: Sequence[str], env: Mapping[str, str]) -> int:
    """Count as the kernel does: each text ends with NUL, each pair of the environment has "="."""
    return sum(len(text.encode()) + 1 for text in [*texts, *env, *env.values()])


def _inherited_bytes(
    inherit_env: Mapping[str, str] | None, settings: Settings, problems: Problems
) -> int:
    _check_env(inherit_env, problems, "/inherit_env")
    size = sum(len(k.encode()) + len(v.encode()) + 2 for k, v in (inherit_env or {}).items())
    if size > settings.argv_bytes_max:
        message = f"the environment has {size} bytes, at most {settings.argv_bytes_max}"
        problems.add(EnvironmentTooLarge, "/inherit_env", f"{message} (argv_bytes_max)")
        return 0
    return size


def _check_env(env: Mapping[str, str] | None, problems: Problems, at: str) -> None:
    for key, value in (env or {}).items():
        if "\0" in key or "\0" in value:
            problems.add(NulCharacter, at + pointer_of(key), "the environment cannot contain NUL")
        elif not key or "=" in key:
            problems.add(InvalidValue, at + pointer_of(key), "not a valid variable name")
        elif is_masked(value):
            message = f"{MASK} stands for a value that is not shown; write the value itself"
            problems.add(InvalidValue, at + pointer_of(key), message)
