"""Setups: the TOML file of a production line. Each section has a parser of its own beside this."""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import partial
from itertools import takewhile
from typing import Any, Final

from weft.core.bounded import Unreadable, read_toml
from weft.core.deliveries.sinks import sinks_of
from weft.core.errors import FieldError, InvalidSetup
from weft.core.lines.lifecycle import Lifecycle, Say, parse_lifecycle
from weft.core.lines.line import Setup, Where, eaches_of, parse_parameters
from weft.core.text.filling import SERIES, names_in
from weft_lines.rules.configuration import (
    LET,
    parse_configuration,
    steering_parameters_of,
)
from weft_lines.rules.lookup import BY_CORE, missing_of, say_below, wrong_missing
from weft_lines.rules.pools import POOLS, PRIORITIES, parse_pool, parse_queue
from weft_lines.rules.sink import parse_sink
from weft_lines.rules.source import NAME, parse_source
from weft_lines.rules.template import SINK, parse_template

Problem = tuple[Where, str]
"""Where something is wrong, and what."""
TABLES_MAX: Final = 50
"""Of one section."""
_PARAMETERS: Final = "parameters"
_HEADER: Final = re.compile(r"\s*\[+\s*([^\]]+?)\s*\]+")
_KEY: Final = re.compile(r"\s*([\w.\"'-]+)\s*=")


SECTIONS: Final[Mapping[str, Callable[[Mapping[str, Any], Say], Any]]] = {
    "lifecycle": parse_lifecycle,
    "source": parse_source,
    "job": parse_template,
    "sink": parse_sink,
    "configure": parse_configuration,
    "queue": parse_queue,
    "pool": parse_pool,
}
"""Sections of tables with names, `[lifecycle.NAME]`: what checks one. What it returns counts if it
said nothing.
"""


SETUP_BYTES_MAX: Final = 256 << 10
"""Of a file, which is read in Python, character by character."""


def parse_setup(text: str) -> Setup:
    """Check a setup. Raise `InvalidSetup`, which names line and field of all that is wrong."""
    try:
        document = read_toml(text)
    except Unreadable as error:
        raise invalid_setup([FieldError("", str(error))]) from error
    problems: list[Problem] = []
    say = partial(_add, problems)
    for section in document.keys() - SECTIONS.keys() - {_PARAMETERS}:
        parts = ", ".join((*(f"[{one}.NAME]" for one in SECTIONS), f"[{_PARAMETERS}]"))
        say((section,), f"a line has no such part; it has {parts}")
    if not document:
        say((), "it is empty")
    found = {
        section: _tables(document[section], section, parse, say) if section in document else {}
        for section, parse in SECTIONS.items()
    }
    say_of_parameter = partial(say_below, say, (_PARAMETERS,))
    parameters = parse_parameters(document.get(_PARAMETERS, {}), say_of_parameter)
    jobs, sources = found["job"], found["source"]
    configurations = _with_missing(found["configure"], found["lifecycle"], say)
    for name, one in sources.items():
        if not one.sinks:
            sources[name] = replace(one, sinks=sinks_of(jobs.get(one.job, {}).get(SINK)))
    jobs = {
        name: {field: value for field, value in job.items() if field != SINK}
        for name, job in jobs.items()
    }
    setup = Setup(
        found["lifecycle"],
        sources,
        jobs,
        found["sink"],
        _with_words(configurations, jobs, found["queue"]),
        parameters,
        found["pool"],
        {name: one[POOLS] for name, one in found["queue"].items() if POOLS in one},
        {name: sorted(steering_parameters_of(one)) for name, one in configurations.items()},
    )
    for name in setup.configurations:
        if name not in document.get("job", ()):
            say(("configure", name), f"there is no [job.{name}]")
    for name, job in setup.jobs.items():
        if names_in(job, SERIES) and SERIES not in setup.configurations.get(name, {}):
            say(("job", name, "inputs"), f"there is no series in [configure.{name}]")
    for name, source in setup.sources.items():
        if source.job not in document.get("job", ()):
            say(("source", name, "job"), f"there is no [job.{source.job}]")
    for where, source in {
        ("source", name) if SINK in document["source"][name] else ("job", one.job): one
        for name, one in sources.items()
    }.items():
        for sink in source.sinks:
            if sink not in document.get("sink", ()):
                say((*where, SINK), f"there is no [sink.{sink}]")
        if len(eaches_of(setup, source)) > 1:  # a file of a job is a message for all of them
            say((*where, SINK), "those of them that have `each` should have the same")
    refuse(text, problems)
    return setup


def parse_each_setup(_: None, text: str) -> Setup:
    """Check a setup (`Evaluates.each`). Raise `InvalidSetup`."""
    return parse_setup(text)


def tables_of(text: str) -> list[tuple[str, str]]:
    """Return the sections and names of the tables of a setup."""
    document = read_toml(text)
    tables = {section: document.get(section) for section in SECTIONS}
    return [
        (one, name) for one, found in tables.items() if isinstance(found, dict) for name in found
    ]


def check_each_table(text: str, table: tuple[str, str]) -> None:
    """Check one table of a setup, to find out what that takes (`Evaluates.each`)."""
    section, name = table
    _tables({name: read_toml(text)[section][name]}, section, SECTIONS[section], lambda *_: None)


def _with_missing(
    configurations: Mapping[str, Mapping[str, Any]], lifecycles: Mapping[str, Lifecycle], say: Say
) -> dict[str, Mapping[str, Any]]:
    """Return configurations that say what becomes of an item without an answer: where they name a
    status, what fits its state, because an item has no status.
    """
    cores = {
        status: core
        for lifecycle in lifecycles.values()
        for status, named in zip(lifecycle.statuses, lifecycle.cores, strict=True)
        for core in reversed([*BY_CORE])  # of several states the first one, which ends nothing
        if core in {state.name.lower() for state in named}
    }
    found = {}
    for name, document in configurations.items():
        lets = {}
        for let, one in document.get(LET, {}).items():
            lets[let] = {**one}
            if "on_missing" not in one:
                continue
            lets[let]["on_missing"] = word = missing_of(one["on_missing"], cores)
            if word is None:
                say(("configure", name, LET, let, "on_missing"), wrong_missing(cores))
        found[name] = {**document, LET: lets} if lets else document
    return found


def _with_words(
    configurations: Mapping[str, Mapping[str, Any]],
    jobs: Mapping[str, Mapping[str, Any]],
    queues: Mapping[str, Mapping[str, list[str]]],
) -> dict[str, Mapping[str, Any]]:
    """Return configurations with the words for priorities of the queue of their jobs."""
    found = {}
    for name, one in configurations.items():
        words = queues.get(str(jobs.get(name, {}).get("queue")), {}).get(PRIORITIES)
        found[name] = one if words is None else {"priorities": words, **one}
    return found


def _tables(
    given: object, section: str, parse: Callable[[Mapping[str, Any], Say], Any], say: Say
) -> dict[str, Any]:
    if not isinstance(given, Mapping) or not 1 <= len(given) <= TABLES_MAX:
        say((section,), f"there should be 1 to {TABLES_MAX} tables, [{section}.NAME]")
        return {}
    found = {}
    for name, document in given.items():
        said: list[Problem] = []
        if not NAME.fullmatch(name):
            said.append(((), "a name is a word such as hrsi"))
        elif not isinstance(document, Mapping):
            said.append(((), "it should be a table"))
        else:
            found[name] = parse(document, partial(_add, said))
        for where, what in said:
            found.pop(name, None)
            say((section, name, *where), what)
    return found


def _add(problems: list[Problem], where: Where, what: str) -> None:
    problems.append((where, what))


def field_error(text: str, where: tuple[str, ...], what: str) -> FieldError:
    """Return what is wrong with a field, with its line."""
    line = line_of(text, where)
    pointer = "".join("/" + one.replace("~", "~0").replace("/", "~1") for one in where)
    return FieldError(pointer, f"line {line}: {what}" if line else what)


def line_of(text: str, where: tuple[str, ...]) -> int:
    """Return the line of a field, or of the table or section nearest to it; 0: none is."""
    best, best_line, table = 0, 0, ()  # type: tuple[int, int, tuple[str, ...]]
    for number, line in enumerate(text.splitlines(), 1):
        if header := _HEADER.match(line):
            table = path = _path(header[1])
        elif key := _KEY.match(line):
            path = (*table, *_path(key[1]))
        else:
            continue
        alike = _alike(path, where)
        if alike > best and (alike == len(path) or alike == len(where)):
            best, best_line = alike, number
    return best_line


def _alike(one: tuple[str, ...], other: tuple[str, ...]) -> int:
    pairs = zip(one, other, strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))


def _path(written: str) -> tuple[str, ...]:
    return tuple(part.strip().strip("\"'") for part in written.split("."))


def refuse(text: str, found: Iterable[Problem]) -> None:
    """Raise `InvalidSetup` for what was found wrong, if anything was."""
    if problems := [field_error(text, where, what) for where, what in found if what]:
        raise invalid_setup(problems)


def invalid_setup(problems: list[FieldError]) -> InvalidSetup:
    """Return the error for all that is wrong."""
    problems = sorted(problems, key=lambda error: error.pointer)
    return InvalidSetup(
        "the line cannot be used", detail=f"{'; '.join(map(str, problems[:20]))}.", errors=problems
    )
