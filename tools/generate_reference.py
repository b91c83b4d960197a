"""Write docs/reference/ from the schema of documents, the declared settings, the rights of routes
and the hooks in SQL; with `--check`, only say if the pages are fresh.
"""

import inspect
import json
import re
import sys
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec

import check_floors
from weft.api.app import PERMISSIONS_OF_ROUTES, route_rights
from weft.core.access.rights import Permission, Right
from weft.settings import all_declared
from weft.wire.description import describe_kind
from weft.wire.documents.batches import BatchDocument, CancelDocument, EditDocument
from weft.wire.documents.groups import GroupDocument, GroupInBunch
from weft.wire.documents.jobs import ConcurrencyKey, FunctionDocument, JobDocument
from weft.wire.documents.sets import MembersDocument, QuerySetDocument
from weft.wire.documents.simulations import Compute, Fail, HttpCall, Log, SimulationDocument, Sleep
from weft.wire.documents.updates import GroupBunch, JobBunch, UpdateDocument

FOLDER = Path(__file__).resolve().parents[1] / "docs" / "reference"
MADE = "Made by `tools/generate_reference.py`; do not edit.\n"
DOCUMENTS = (
    BatchDocument,
    JobDocument,
    FunctionDocument,
    ConcurrencyKey,
    SimulationDocument,
    Sleep,
    Log,
    Compute,
    HttpCall,
    Fail,
    GroupDocument,
    UpdateDocument,
    JobBunch,
    GroupBunch,
    GroupInBunch,
    QuerySetDocument,
    MembersDocument,
    EditDocument,
    CancelDocument,
)
HEAD = f"""# Documents

{MADE}
The documents that clients send, as JSON or msgpack.
`weft submit` reads a `BatchDocument` from YAML, TOML or JSON.
An unknown field is an error.
[guides/jobs.md](../guides/jobs.md) shows how sizes and durations are written.
[guides/command-line.md](../guides/command-line.md) shows what a job file may have besides.
"""
TABLE = "| field | type | unit | default | meaning | example |\n|---|---|---|---|---|---|\n"
SETTINGS_HEAD = f"""# Settings

{MADE}
`weft config` shows the value of each and where it comes from:
an option, `WEFT_NAME` in the environment, or `name = value` in `weft.toml` in the home.

| setting | default | meaning |
|---|---|---|
"""
RIGHTS_HEAD = f"""# Who may call what

{MADE}
The right that each call of the API needs, and what it needs on the batch that it names.
[administration.md](../guides/administration.md) shows which roles have which rights.

| call | right | on the batch |
|---|---|---|
"""

HOOKS_HEAD = f"""# Hooks

{MADE}
Where the house calls up in SQL, and the steps that stand there, in their order.
What one does besides is said by its own file, `src/weft/sql/functions/hooks/NAME.sql`.
[architecture.md](../architecture.md#floors-of-the-database) says what floors are.
"""


def _documents() -> str:
    _, schemas = msgspec.json.schema_components(DOCUMENTS, ref_template="#/{name}")
    return HEAD + "".join(_section(kind.__name__, kind, schemas) for kind in DOCUMENTS)


def _section(name: str, kind: type, schemas: Mapping[str, Any]) -> str:
    schema = schemas[name]
    about = inspect.cleandoc(kind.__doc__ or "").replace("\n", " ")
    rows = "".join(_rows(schema["properties"], schema.get("required", ())))
    return f"\n## {name}\n\n{about}\n\n{TABLE}{rows}"


def _rows(fields: Mapping[str, Any], required: Collection[str], within: str = "") -> Iterator[str]:
    for name, field in fields.items():
        default = "required" if name in required else _code(field.get("default"))
        examples = ", ".join(_code(one) for one in field.get("examples", ()))
        cells = (
            f"`{within}{name}`",
            describe_kind(field),
            field.get("x-unit", ""),
            default,
            field.get("description", ""),
            examples,
        )
        yield "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |\n"
        yield from _rows(field.get("properties", {}), (), f"{within}{name}.")


def _code(value: object) -> str:
    return "" if value is None else f"`{json.dumps(value, ensure_ascii=False)}`"


def _settings() -> str:
    rows = []
    for one in all_declared().values():
        limits = [
            f"{word} {end:,}"
            for word, end in (("at least", one.minimum), ("at most", one.maximum))
            if end is not None
        ]
        rest = ", ".join([*(f"`{choice}`" for choice in one.choices), *limits])
        # A path or a number of cores depends on the machine.
        default = _code(one.default) if isinstance(one.default, str | int | float) else ""
        meaning = f"{one.help} ({rest})" if rest else one.help
        rows.append(f"| `{one.name}` | {default} | {meaning.replace('|', chr(92) + '|')} |\n")
    return SETTINGS_HEAD + "".join(rows)


def _rights() -> str:
    rows = []
    for name, right in sorted(route_rights().items(), key=lambda pair: pair[0].split()[::-1]):
        usual = Permission.READ if right == Right.READ else Permission.WRITE
        needs = PERMISSIONS_OF_ROUTES.get(name, usual).name.lower() if "{b}" in name else ""
        rows.append(f"| `{name}` | {right or 'none'} | {needs} |\n")
    return RIGHTS_HEAD + "".join(rows)


def _hooks() -> str:
    found = check_floors.files_below(check_floors.FUNCTIONS)
    calls = check_floors.calls_of({name: path for name, (path, _) in found.items()})
    sections = []
    hooks = (path for path, parts in found.values() if parts[0] == check_floors.HOOKS)
    for hook in sorted(hooks):
        head, _, body = hook.read_text().partition("\nCREATE ")
        about = re.sub(r"\n--\s{2,}", " ", head).removeprefix(f"-- {hook.stem}: ")
        sentence = re.split(r"\.\s|\n", about + "\n", maxsplit=1)[0].rstrip(".")
        callers = ", ".join(f"`{name}`" for name in sorted(calls) if hook.stem in calls[name])
        steps = "".join(
            f"- `{name}` of `{'/'.join(found[name][1][:-1])}`\n"
            for name in dict.fromkeys(re.findall(r"weft\.(\w+)\(", body))
            if name in calls[hook.stem]
        )
        sections.append(
            f"\n## {hook.stem}\n\n{sentence[0].upper()}{sentence[1:]}.\nCalled by {callers}.\n\n"
            + (steps or "Its steps are statements of its own.\n")
        )
    return HOOKS_HEAD + "".join(sections)


def main() -> int:
    """Write or check; the exit code is 1 if a page is not fresh."""
    stale = False
    pages = {
        "documents.md": _documents(),
        "settings.md": _settings(),
        "rights.md": _rights(),
        "hooks.md": _hooks(),
    }
    for name, text in pages.items():
        file = FOLDER / name
        if "--check" not in sys.argv[1:]:
            file.write_text(text)
        elif not file.exists() or file.read_text() != text:
            print(f"docs/reference/{name} is stale: run `make reference` and commit it.")
            stale = True
    return int(stale)


if __name__ == "__main__":
    sys.exit(main())
