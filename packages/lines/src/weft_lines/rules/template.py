"""Templates of jobs in a setup, `[job.NAME]`: fields of a job, as a batch document has them.

What an item brings reaches its job as environment, so that no value becomes a part of a command or
a script; only addresses of files and images are filled in.
"""

from collections.abc import Mapping
from typing import Any, Final

from weft.core.deliveries.sinks import wrong_sinks
from weft.core.files.file_paths import fixed_directory
from weft.core.lines.lifecycle import Say
from weft.core.text.filling import FIELD, JOB_BEFORE, PRODUCT, SERIES, map_texts, wrong_text

ITEM_VARIABLE: Final = "WEFT_ITEM"
"""The item as JSON."""
ID_VARIABLE: Final = "WEFT_ITEM_ID"
"""Its key. A name with KEY in it would be masked as a secret."""
SINK: Final = "sink"
"""The sinks of all sources of these jobs that name none."""
TABLES: Final = ("env", "attributes", "resources")
"""To whose fields a configuration adds its own."""
_OWN: Final = {
    "name": "it is the key of the item",
    "count": "an item is one job",
    "values": "an item is one job",
    "parents": "jobs of items wait for each other by series",
    "function": "a function comes with a submission; call a program",
    "logs": "weft keeps logs (`weft logs`), in a bucket if the setting log_bucket names one; "
    "leave it out, or keep files by `outputs`",
    "nomad": "weft runs no job that Nomad has, so nothing would run: write `command` or `script` "
    'beside executor = "nomad"; it knows its job by WEFT_BATCH_ID and WEFT_JOB_ID',
    "priorities": "they stand in [configure.NAME] or [queue.NAME]",
}


def parse_template(document: Mapping[str, Any], say: Say) -> Mapping[str, Any]:
    """Check what only templates have; it counts if nothing was said about it. The fields are
    checked as those of a batch document, where that is decoded.
    """
    for field in _OWN:
        if field in document:
            say((field,), f"a template has no such field: {_OWN[field]}")
    for field in TABLES:
        if not isinstance(document.get(field, {}), Mapping):
            say((field,), "it should be a table")
    if what := wrong_sinks(document.get(SINK)):
        say((SINK,), what)
    if "image" in document and "container" in document:
        say(("image",), "the field container has it")
    job = _whole(document)
    if what := _wrong_image(job.get("container")):
        say(("image" if "image" in document else "container",), what)
    for field, (names, roots) in _FILLED.items():
        for text in _texts(job.get(field), names):
            is_address = field != "container"
            if what := wrong_text(text, roots=roots, is_address=is_address):
                say(("image" if "image" in document and not is_address else field,), what)
    return job


def _wrong_image(container: object) -> str:
    """Say what is wrong with the address of an image that is filled in; empty: nothing is."""
    image = container.get("image") if isinstance(container, Mapping) else None
    if not isinstance(image, str) or "${" not in image or image.startswith(_IMAGES):
        return ""
    return 'write docker:// before the parameter: image = "docker://${param.NAME}"'


_IMAGES: Final = ("docker://", "oci:/", "dir:/")
_FILLED: Final[Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]]] = {
    "inputs": (("from",), ("item", "param", SERIES)),
    "outputs": (("from", "to"), ("item", "param", PRODUCT)),
    "container": (("image",), ("param",)),
}
"""Fields with texts that are filled in, and with what."""


def _texts(given: object, names: tuple[str, ...]) -> list[str]:
    many = given if isinstance(given, list) else [given]
    return [
        one[name]
        for one in many
        if isinstance(one, Mapping)
        for name in names
        if isinstance(one.get(name), str)
    ]


def _whole(document: Mapping[str, Any]) -> dict[str, Any]:
    """Return a template with its short forms written out: `image`, inputs that are texts, outputs
    that are a table of where they go.
    """
    job = {**document}
    if "image" in job and "container" not in job:
        image = job.pop("image")
        is_name = isinstance(image, str) and image.startswith("${param.")
        job["container"] = {"image": f"{_IMAGES[0]}{image}" if is_name else image}
    inputs, outputs = job.get("inputs"), job.get("outputs")
    if isinstance(inputs, list):
        job["inputs"] = [{"from": one} if isinstance(one, str) else one for one in inputs]
    if isinstance(outputs, Mapping):
        job["outputs"] = [
            {"from": name, "to": to, **({"strip": True} if fixed_directory(name) else {})}
            for name, to in outputs.items()
        ]
    elif isinstance(outputs, list):
        job["outputs"] = [{"from": one} if isinstance(one, str) else one for one in outputs]
    return job


def example_of(job: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields that are filled in as some item would."""
    return map_texts(job, lambda text: FIELD.sub("x", text.replace(JOB_BEFORE, "b1.j1")))
