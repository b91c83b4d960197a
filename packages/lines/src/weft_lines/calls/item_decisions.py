"""Decide what becomes of the items of a source: the documents of their jobs."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from decimal import Decimal
from functools import partial
from typing import Any, Final, NamedTuple

import msgspec

from weft.api.services import Services
from weft.core.errors import Invalid
from weft.core.lines.line import PARAMETERS_MAX, bound
from weft.core.lines.series import LateWord, SeriesRule, Standing, rule_of
from weft.core.text.filling import (
    PRODUCT,
    CannotFill,
    at,
    filled,
    map_texts,
    names_in,
    without_previous,
)
from weft.ports.evaluation import TooCostly, evaluate
from weft.ports.lookup import Answered, Question
from weft.ports.store import Row
from weft.ports.store.sources import Decision, TakenItem, TakenSource
from weft.store import ApiStore
from weft_lines.rules.configuration import (
    PARAM,
    SERIES,
    CannotConfigure,
    IsCancelled,
    MustAsk,
    MustWait,
    configure,
    parameters_of,
    reads_products,
    standing_of,
)
from weft_lines.rules.template import ID_VARIABLE, ITEM_VARIABLE, TABLES

SOURCE_ATTRIBUTE = "source"
ITEM_ATTRIBUTE = "item"
SERIES_ATTRIBUTE = "series"
WAIT_FIRST_S: Final = 1.0
WAIT_LONGEST_S: Final = 60.0
_JOB: Final = re.compile(r"/jobs/(\d+)(/.*)?")
_UNKNOWN: Final = "its series is being read"
_OTHERS: Final = "the expressions of items before it take long"
_IN_TURN: Final = "another item of its series is first"
_NO_LOOK_UPS: Final = Answered(away="this api asks nothing")


@dataclass(frozen=True)
class _Known:
    """What configurations read beside the item."""

    values: Mapping[str, Any]
    versions: Mapping[str, int]


_NOTHING: Final = _Known({}, {})


def wrong_jobs(error: Invalid) -> Mapping[int, str]:
    """Return why jobs of a set were refused, by their place in it; empty: it is about all."""
    wrong: dict[int, str] = {}
    for cause in error.errors:
        if match := _JOB.fullmatch(cause.pointer):
            field = (match[2] or "")[1:]
            wrong.setdefault(
                int(match[1]), f"{field}: {cause.message}" if field else cause.message
            )
    return wrong


def late_of(taken: TakenSource) -> LateWord:
    """Return what becomes of items after one that comes late."""
    return rule_of(taken.template.get("configure", {}).get(SERIES, {})).late


async def decide(
    services: Services,
    taken: TakenSource,
    items: Sequence[TakenItem],
    parameters: Sequence[Row] | None = None,
) -> list[Decision]:
    """Return what becomes of each item. Its expressions are evaluated elsewhere: it is refused if
    they take too long, and waits for the next set if those of others have. `parameters`: of a
    setup that is tried, where an item has nothing before it in its series.
    """
    rules, job = taken.template.get("configure"), taken.template["job"]
    names = names_in(job, PARAM)
    if not rules and not names:
        return [_decided(taken, one, _NOTHING, None) for one in items]
    rules = rules or {}
    tenant_id, read = taken.owner.tenant_id, partial(evaluate, services.evaluation)
    expressions = await read(tenant_id, parameters_of_each, None, rules)
    if isinstance(expressions, TooCostly):
        return [_costly(one, TooCostly(expressions.why, alone=True)) for one in items]
    names |= expressions
    known = await _known(services.store, taken, names, parameters) if names else _NOTHING
    if SERIES not in rules:
        return await _decided_all(services, taken, [(one, None) for one in items], known)
    early, stands = await _standings(services, taken, items, known)
    if parameters is not None:
        first = [(one, Standing(stands[one.n][0], None, None)) for one in items if one.n in stands]
        return [*early, *await _decided_all(services, taken, first, known)]
    rule = rule_of(rules[SERIES], products=reads_products(rules))
    found = await services.store.order_items(taken, stands, rule)
    if found is None:
        # Others of the source are new: what is before an item is known when all of them stand.
        later = [Decision(n, "waiting", reason=_UNKNOWN, due_in_s=0.0) for n in stands]
        return [*early, *later]
    by_number = {one.n: one for one in items}
    standing = [(by_number[n], one) for n, one in found.items()]
    decided = await _decided_all(services, taken, standing, known)
    return [*early, *in_turn(decided, stands, rule)]


def in_turn(
    decided: Sequence[Decision], stands: Mapping[int, tuple[str, Decimal]], rule: SeriesRule
) -> list[Decision]:
    """Let an item wait for the next set if this one has an item before it in its series: that one
    comes late, as another one between them was decided already.
    """
    lowest: dict[str, Decimal] = {}
    turns: dict[int, Decision] = {}
    for decision in sorted(decided, key=lambda decision: stands[decision.n][1]):
        series, at = stands[decision.n]
        turns[decision.n] = decision
        if decision.state != "ready":
            continue
        before = lowest.setdefault(series, at)
        if before < at and (rule.within_s is None or at - before <= Decimal(rule.within_s)):
            turns[decision.n] = Decision(decision.n, "waiting", reason=_IN_TURN, due_in_s=0.0)
        else:
            lowest[series] = at
    return [turns[decision.n] for decision in decided]


async def _decided_all(
    services: Services,
    taken: TakenSource,
    items: Sequence[tuple[TakenItem, Standing | None]],
    known: _Known,
) -> list[Decision]:
    """Decide, and ask what expressions read of look-ups, in sets: an item that is cancelled or
    waits before it comes to them asks nothing.
    """
    answers: dict[int, dict[str, Answered]] = {}
    decided: list[Decision] = []
    common = (replace(taken, sealed=None, items=()), known)
    while items:
        asking: list[tuple[TakenItem, Standing | None, Mapping[str, Question]]] = []
        inputs = [(item, standing, answers.get(item.n)) for item, standing in items]
        outcomes = await services.evaluation.each(
            taken.owner.tenant_id, decide_each, common, inputs
        )
        for (item, standing), one in zip(items, outcomes, strict=True):
            if isinstance(one, TooCostly):
                decided.append(_costly(item, one))
            elif isinstance(one, Decision):
                decided.append(one)
            else:
                asking.append((item, standing, one))
        look_ups = services.look_ups
        questions = [one for _, _, asked in asking for one in asked.values()]
        found: Mapping[Question, Answered] = {}
        if questions and look_ups is not None:
            found = await look_ups.ask(taken.owner.tenant_id, questions, taken.sealed)
        for item, _, asked in asking:
            answers.setdefault(item.n, {}).update(
                {name: found.get(one, _NO_LOOK_UPS) for name, one in asked.items()}
            )
        items = [(item, standing) for item, standing, _ in asking]
    return decided


def parameters_of_each(_: None, rules: Mapping[str, Any]) -> set[str]:
    """Return the names of the parameters that expressions read (`Evaluates.each`)."""
    return parameters_of(rules)


def decide_each(
    common: tuple[TakenSource, _Known],
    item: tuple[TakenItem, Standing | None, Mapping[str, Answered] | None],
) -> Decision | Mapping[str, Question]:
    """Decide about one item, or return what has to be asked before (`Evaluates.each`)."""
    (taken, known), (one, standing, answers) = common, item
    try:
        return _decided(taken, one, known, standing, answers)
    except MustAsk as error:
        return error.questions


def _costly(item: TakenItem, costs: TooCostly) -> Decision:
    """Refuse an item whose expressions take too long; it waits if those of others did."""
    if costs.alone:
        return Decision(item.n, "refused", reason=f"its expressions: {costs.why}")
    return Decision(item.n, "waiting", reason=_OTHERS, due_in_s=0.0)


async def _standings(
    services: Services, taken: TakenSource, items: Sequence[TakenItem], known: _Known
) -> tuple[list[Decision], dict[int, tuple[str, Decimal]]]:
    """Return the items that stand nowhere, and the series of the others."""
    early: list[Decision] = []
    stands: dict[int, tuple[str, Decimal]] = {}
    common = (taken.template["configure"], known.values)
    found = await services.evaluation.each(taken.owner.tenant_id, standing_of_each, common, items)
    for item, one in zip(items, found, strict=True):
        if isinstance(one, TooCostly):
            early.append(_costly(item, one))
        elif one.early is not None:
            early.append(one.early)
        else:
            stands[item.n] = one.series, one.order
    return early, stands


class Stands(NamedTuple):
    """Where an item stands in which series, or what becomes of it before."""

    series: str = ""
    order: Decimal = Decimal(0)
    early: Decision | None = None


def standing_of_each(
    common: tuple[Mapping[str, Any], Mapping[str, Any]], item: TakenItem
) -> Stands:
    """Return where an item stands (`Evaluates.each`)."""
    rules, values = common
    try:
        return Stands(*standing_of(rules, {**item.fields, "key": item.key}, values))
    except CannotConfigure as error:
        return Stands(early=Decision(item.n, "refused", reason=str(error)))
    except MustWait as error:
        return Stands(early=_waiting(item, error))


def _waiting(item: TakenItem, why: MustWait) -> Decision:
    """Let an item wait; the longer it has waited, the rarer it is looked at."""
    age_s = (datetime.now(UTC) - datetime.fromisoformat(item.found_at)).total_seconds()
    due_in_s = min(max(age_s / 10, WAIT_FIRST_S), WAIT_LONGEST_S)
    return Decision(item.n, "waiting", reason=str(why), due_in_s=due_in_s)


async def _known(
    store: ApiStore, taken: TakenSource, names: set[str], parameters: Sequence[Row] | None
) -> _Known:
    if parameters is None:
        parameters = await store.list_parameters(
            taken.owner, names=sorted(names), as_of=None, after="", limit=PARAMETERS_MAX
        )
    rows = [one for one in parameters if one["parameter"] in names]
    return _Known(
        {row["parameter"]: bound(row["type"], row["value"]) for row in rows},
        {row["parameter"]: row["version"] for row in rows},
    )


def _decided(
    taken: TakenSource,
    item: TakenItem,
    known: _Known,
    standing: Standing | None,
    answers: Mapping[str, Answered] | None = None,
) -> Decision:
    """Decide about one item. Raise `MustAsk`."""
    try:
        rules = taken.template.get("configure", {})
        whole = {**item.fields, "key": item.key}
        configured = configure(rules, whole, known.values, standing, answers)
        own = {} if configured.cancelled else taken.template["job"]
        previous = None if standing is None else standing.previous
        files, read = _files(own, whole, known.values, previous)
    except CannotConfigure as error:
        return Decision(item.n, "refused", reason=str(error))
    except IsCancelled as error:
        return Decision(item.n, "cancelled", reason=str(error))
    except MustWait as error:
        return _waiting(item, error)
    versions = {name: known.versions[name] for name in sorted(configured.parameters | read)}
    if configured.cancelled:
        return Decision(item.n, "cancelled", reason="cancel_if is true", parameters=versions)
    document = job_of(taken, item, {**files, **configured.fields}, versions, standing)
    return Decision(item.n, "ready", document=document, parameters=versions)


def _files(
    job: Mapping[str, Any],
    item: Mapping[str, Any],
    values: Mapping[str, Any],
    previous: Mapping[str, Any] | None,
) -> tuple[dict[str, Any], set[str]]:
    """Return the fields of a job that an item fills in, and the parameters that they read.
    `previous`: of its series; without it, inputs that are its files are left out. Raise
    `CannotConfigure`, `MustWait`.
    """
    read: set[str] = set()
    own = without_previous(job) if previous is None else {}

    def value_of(root: str, name: str) -> object:
        if root != PARAM:
            known = item if root != SERIES else {"previous": previous}
            if (found := at(known, name)) is None:
                raise CannotConfigure(f"it has no {name}, which a file of its job needs")
            return found
        if name not in values:
            raise MustWait(f"there is no parameter {name} yet, which a file of its job needs")
        read.add(name)
        return values[name]

    try:
        return {
            **own,
            **map_texts({**job, **own}, lambda text: filled(text, value_of, later=(PRODUCT,))),
        }, read
    except CannotFill as error:
        raise CannotConfigure(f"a file of its job: {error}") from error


def job_of(
    taken: TakenSource,
    item: TakenItem,
    configured: Mapping[str, Any],
    versions: Mapping[str, int],
    standing: Standing | None = None,
) -> Mapping[str, Any]:
    """Return the document of the job of an item: the template, what was configured, the item as
    environment, and the versions of parameters as attributes.
    """
    job = {**taken.template["job"], **configured, "name": item.key}
    for field in TABLES:
        both = {**taken.template["job"].get(field, {}), **configured.get(field, {})}
        if both:
            job[field] = both
    variables = {
        ITEM_VARIABLE: msgspec.json.encode({**item.fields, "key": item.key}).decode(),
        ID_VARIABLE: item.key,
    }
    job["env"] = {**job.get("env", {}), **variables}
    marks = {SOURCE_ATTRIBUTE: taken.name, ITEM_ATTRIBUTE: item.key}
    used = {f"param.{name}": str(version) for name, version in versions.items()}
    if standing is not None:
        used[SERIES_ATTRIBUTE] = standing.series
    job["attributes"] = {**job.get("attributes", {}), **used, **marks}
    return job
