"""The files of jobs: checked, and marked for runners and workers that bring and keep them."""

from typing import Final

from weft.core.addresses import parse_allowed_hosts
from weft.core.deliveries.callback_url import parse_target, wrong_address
from weft.core.errors import InvalidValue
from weft.core.files import file_paths
from weft.core.problems import Problems
from weft.core.text.filling import names_product, wrong_target
from weft.settings import Settings
from weft.wire.documents.files import FileInput, FileOutput
from weft.wire.documents.jobs import JobDocument

_NOT_BESIDE: Final = {
    "function": "calls of functions have no directory of their own",
    "cwd": "a job with files runs in a directory of its own",
}
_VARIABLES: Final = ("$WEFT_", "${WEFT_", "{value}")


def check_inputs(job: JobDocument, settings: Settings, problems: Problems, at: str) -> None:
    """Note inputs without which the job could not start, and what cannot stand beside them."""
    _check_job(job, settings, problems, at)
    is_array = job.array_size is not None
    targets: set[str] = set()
    for n, one in enumerate(job.inputs or ()):
        if is_array and any(mark in one.from_ + (one.to or "") for mark in _VARIABLES):
            continue  # the worker looks at what becomes of it
        try:
            _check_input(one, targets, settings)
        except file_paths.WrongPath as error:
            problems.add(InvalidValue, f"{at}/inputs/{n}", str(error))


def check_outputs(job: JobDocument, settings: Settings, problems: Problems, at: str) -> None:
    """Note outputs that cannot be kept, and what cannot stand beside them."""
    if job.inputs is None:
        _check_job(job, settings, problems, at)
    for n, output in enumerate(job.outputs or ()):
        try:
            _check_output(output)
        except file_paths.WrongPath as error:
            problems.add(InvalidValue, f"{at}/outputs/{n}", str(error))


def _check_job(job: JobDocument, settings: Settings, problems: Problems, at: str) -> None:
    for name, why in _NOT_BESIDE.items():
        if getattr(job, name) is not None:
            problems.add(InvalidValue, f"{at}/{name}", why)
    n_files = len(job.inputs or ()) + len(job.outputs or ())
    if n_files > (most := settings.job_files_max):
        message = f"{n_files} inputs and outputs, at most {most} (job_files_max)"
        problems.add(InvalidValue, f"{at}/{'inputs' if job.inputs else 'outputs'}", message)


def _check_input(one: FileInput, targets: set[str], settings: Settings) -> None:
    source = file_paths.parse_source(one.from_)
    if isinstance(source, file_paths.UrlFile) and (why := wrong_url(source, settings)):
        raise file_paths.WrongPath(why)
    if one.unpack:
        if one.to not in {None, "."}:
            file_paths.parts_of((one.to or "").removesuffix("/"))
        return
    target = "/".join(file_paths.target_of(one.to, file_paths.name_of(source)))
    if target in targets:
        raise file_paths.WrongPath(f"another input is {target} already")
    targets.add(target)


def wrong_url(source: file_paths.UrlFile, settings: Settings) -> str | None:
    """Return why jobs may not get this, as far as its address tells."""
    allowed = parse_allowed_hosts(settings.input_private_hosts)
    return wrong_address(parse_target(source.url).host, allowed, "input_private_hosts")


def _check_output(output: FileOutput) -> None:
    file_paths.parts_of(output.from_.removesuffix("/"))
    if output.to is not None and names_product(output.to) and (what := wrong_target(output.to)):
        raise file_paths.WrongPath(what)
    if output.to is not None:
        to = file_paths.split_store(output.to)[1] if file_paths.in_store(output.to) else output.to
        if to or not file_paths.in_store(output.to):
            file_paths.parts_of(to.removesuffix("/"))
        if file_paths.has_wildcards(output.from_) and not output.to.endswith("/"):
            raise file_paths.WrongPath("`to` of a pattern is a directory: end it with a slash")
