"""What each term of the language finds, alone and joined, and what it may not do."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from builders import array_rows, job_rows, tree
from store.backend import Backend
from store.queried import (
    ALL,
    BATCH_TERMS,
    HOSTILE,
    JOB_TERMS,
    LABELS,
    expected,
    labelled_rows,
    varied_batch,
    varied_batches,
)
from store.world import World, open_world
from weft.core import errors
from weft.core.query import Node, Subject, parse_query
from weft.core.query.tree import (
    And,
    AnyTerm,
    AttributeTerm,
    Field,
    Operator,
    TextTerm,
    all_of,
    any_of,
    negated,
)
from weft.core.states import Reason
from weft.ports.store import (
    UNKEYED,
    BatchQuery,
    Caller,
    EditLimits,
    JobQuery,
    NewGroup,
    NewSet,
    QueryLimits,
)
from weft.store.database import call_on

LIMITS = QueryLimits(timeout_s=30, scan_jobs_max=1_000_000)
TERMS = {parse_query(text, Subject.JOBS): found for text, found in JOB_TERMS.items()}


async def ids(
    world: World,
    batch: int,
    query: str | Node,
    *,
    group: int | str | None = None,
    after: int = 0,
    limit: int = 100,
    caller: Caller | None = None,
    limits: QueryLimits = LIMITS,
) -> list[int]:
    node = parse_query(query, Subject.JOBS) if isinstance(query, str) else query
    wanted = JobQuery(query=node, group=group, after=after, limit=limit, limits=limits)
    rows = await world.api.query_jobs(caller or world.caller, batch, wanted)
    return [row["job_id"] for row in rows]


@pytest.mark.heavy
async def test_each_term_finds_its_jobs(world: World) -> None:
    batch = await varied_batch(world)
    found = {text: await ids(world, batch, text) for text in JOB_TERMS}

    assert found == {text: sorted(numbers) for text, numbers in JOB_TERMS.items()}


async def test_terms_can_be_joined_in_any_way(world: World) -> None:
    """Sets of numbers are joined as the terms are; what has no value is not found, but by not."""
    batch = await varied_batch(world)
    trees = st.recursive(
        st.sampled_from([term for term in TERMS if not isinstance(term, And)]),
        lambda inner: st.one_of(
            inner.map(negated),
            st.lists(inner, min_size=1, max_size=4).map(lambda nodes: all_of(tuple(nodes))),
            st.lists(inner, min_size=1, max_size=4).map(lambda nodes: any_of(tuple(nodes))),
        ),
        max_leaves=8,
    )
    drawn: list[Node] = []

    @settings(database=None, suppress_health_check=list(HealthCheck))
    @given(trees)
    def draw(node: Node) -> None:
        drawn.append(node)

    draw()
    for node in drawn:
        assert set(await ids(world, batch, node)) == expected(node, TERMS, ALL), node


async def test_pages_follow_each_other_whatever_the_way(world: World) -> None:
    batch = await world.submit(labelled_rows())
    _, _worker = await world.submit_and_run(labelled_rows(), batch=batch, reason=Reason.EXIT)
    for query in ("", "cost >= 0", "name =~ a", "name = pca or name = %", "state = failed"):
        whole = await ids(world, batch, query)
        paged: list[int] = []
        while page := await ids(world, batch, query, after=paged[-1] if paged else 0, limit=3):
            paged += page

        assert paged == whole == sorted(set(whole))
        assert len(whole) >= 4


async def test_uncommitted_jobs_do_not_exist(world: World) -> None:
    batch = await world.submit(2)
    rows = labelled_rows()
    await world.api.create_update(world.caller, batch, UNKEYED, n_jobs=10, n_groups=0)
    await world.api.add_jobs(world.caller, batch, 2, rows)
    await world.submit(job_rows(1, names={1: "pca"}), batch=batch)

    assert await ids(world, batch, "") == [1, 2, 13]
    assert await ids(world, batch, "", after=5) == [13]
    assert await ids(world, batch, "name = pca") == [13]
    assert await ids(world, batch, "pca") == [13]
    await world.api.commit_update(world.caller, batch, 2)
    assert await ids(world, batch, "name = pca") == [10, 13]


@pytest.mark.parametrize(
    "text",
    [
        HOSTILE,
        "%",
        "_",
        "\\",
        "'",
        '"',
        "''; DROP TABLE weft.job --",
        "$1",
        "{0}",
        "{batch}",
        "%s",
        "\x01\x7f",
        "\u202e",
        "🎉",
        "é" * 1000,
        "x" * 10_000_000,
        "\ufffd",
        "",
    ],
)
async def test_hostile_texts_are_only_values(world: World, text: str) -> None:
    batch = await world.submit(labelled_rows())
    nodes: list[Node] = [
        TextTerm(field, operator, text)
        for field in (Field.NAME, Field.INSTANCE, Field.INSTANCE_COLLECTION)
        for operator in (Operator.EQ, Operator.NE, Operator.CONTAINS, Operator.LACKS)
    ]
    nodes += [AttributeTerm(text, Operator.EQ, text), AnyTerm(Operator.EQ, text)]
    for node in nodes:
        await ids(world, batch, node)
    contained = await ids(world, batch, AnyTerm(Operator.CONTAINS, text))

    labels = [(number, name or "", all_ or {}) for number, (name, all_) in LABELS.items()]
    assert contained == [
        number
        for number, name, attributes in labels
        if (text in name and name)
        or any(text in part for pair in attributes.items() for part in pair)
    ]
    assert await world.admin.fetchval("SELECT count(*) FROM weft.job WHERE batch_id = $1", batch)


async def test_jobs_of_another_tenant_are_not_found(backend: Backend, world: World) -> None:
    batch = await varied_batch(world)
    async with open_world(backend) as other:
        with pytest.raises(errors.BatchNotFound):
            await ids(world, batch, "", caller=other.caller)
        assert await live_jobs(other, batch) == []
        assert {5, 6} <= set(await live_jobs(world, batch))
        with pytest.raises(errors.BatchNotFound):
            await world.api.explain_jobs(other.caller, batch, JobQuery(limit=1, limits=LIMITS))
        assert await batches(other, "cost >= 0") == []
        assert await batches(other, f"batch_id = {batch}") == []


async def live_jobs(world: World, batch: int) -> list[int]:
    """Ask as a login that has named its tenant."""
    async with world.transaction("weft_api") as connection:
        await call_on(
            connection,
            "begin_query",
            tenant_id=world.caller.tenant_id,
            batch_id=None,
            of_group=None,
            of_path=None,
            timeout_ms=30_000,
        )
        rows = await call_on(connection, "live_jobs", of_batch_id=batch, first_job=1, last_job=99)
    return [row[0] for row in rows]


async def test_wide_query_on_a_large_batch_is_refused(world: World) -> None:
    batch = await varied_batch(world)
    few = QueryLimits(timeout_s=30, scan_jobs_max=5)
    with pytest.raises(errors.QueryTooWide, match="too many jobs"):
        await ids(world, batch, "cost > 0", limits=few)

    assert await ids(world, batch, "", limits=few) == sorted(ALL)
    assert await ids(world, batch, "cost > 0 and job_id < 5", limits=few) == [1, 2, 3]
    assert await ids(world, batch, "state = failed", limits=few) == [2]
    assert await ids(world, batch, "state = running", limits=few) == [5, 6]
    assert await ids(world, batch, "state = running", limits=few, after=5) == [6]
    assert await ids(world, batch, "state = ready", limits=few) == [7, 9, 10]
    assert await ids(world, batch, "state = ready or state = bad", limits=few) == [2, 3, 7, 9, 10]


async def test_slow_query_is_stopped(world: World) -> None:
    batch = await world.submit(2_000)
    soon = QueryLimits(timeout_s=0.001, scan_jobs_max=1_000_000)
    with pytest.raises(errors.QueryTooSlow, match="took too long"):
        await ids(world, batch, "cost > 5 or duration > 5 or pca", limits=soon)

    assert await ids(world, batch, "job_id < 3") == [1, 2]


GROUPS = [
    NewGroup(group_id=1, parent_id=0, name="a"),
    NewGroup(group_id=2, parent_id=1, name="b"),
    NewGroup(group_id=3, name="pca", is_set=True),
]


async def grouped_batch(world: World) -> int:
    """Return a batch of 3 times 10 jobs: the last five of each ten in /a, the last two in /a/b;
    in the set pca the third of each ten.
    """
    group = [0] * 5 + [1] * 3 + [2] * 2
    batch = await world.submit(
        job_rows(10, group=group, sets={3: (3,)}, names={7: "x", 3: "x"}), groups=GROUPS
    )
    rows = job_rows(10, group=[-one for one in group], sets={3: (-3,)}, names={7: "x"})
    await world.submit(rows, batch=batch)
    await world.submit(rows, batch=batch)
    return batch


async def test_jobs_of_a_group_are_those_below_it_too(world: World) -> None:
    batch = await grouped_batch(world)
    in_a = [6, 7, 8, 9, 10, 16, 17, 18, 19, 20, 26, 27, 28, 29, 30]
    for group in (1, "/a", "a"):
        assert await ids(world, batch, "", group=group) == in_a
    assert await ids(world, batch, "", group="/a/b") == [9, 10, 19, 20, 29, 30]
    assert await ids(world, batch, "", group=0) == await ids(world, batch, "")
    assert await ids(world, batch, "", group="pca") == [3, 13, 23]
    assert await ids(world, batch, "name = x", group="/a") == [7, 17, 27]
    assert await ids(world, batch, "name = x", group="pca") == [3]
    assert await ids(world, batch, "job_id > 16 and not name = x", group="/a", limit=3) == [
        18,
        19,
        20,
    ]
    for after in range(31):
        expected_ids = [number for number in in_a if number > after]
        assert await ids(world, batch, "", group="/a", after=after, limit=4) == expected_ids[:4]
    for missing in (4, "/a/c", "nobody"):
        with pytest.raises(errors.GroupNotFound):
            await ids(world, batch, "", group=missing)


async def test_jobs_that_joined_a_set_later_are_found_in_it(world: World) -> None:
    batch = await grouped_batch(world)
    await world.api.add_members(world.caller, batch, 3, [7, 8, 20, 30])
    late, _ = await world.api.create_set(world.caller, batch, NewSet(name="late"))
    await world.api.add_members(world.caller, batch, late, [1, 3, 7, 29])

    assert await ids(world, batch, "", group="pca") == [3, 7, 8, 13, 20, 23, 30]
    assert await ids(world, batch, "", group="late") == [1, 3, 7, 29]
    assert await ids(world, batch, "name = x", group="late", after=3) == [7]
    assert await ids(world, batch, "", group="/a/b") == [9, 10, 19, 20, 29, 30]


async def test_many_groups_below_are_listed_in_order(world: World) -> None:
    groups = tree("a")
    groups += [NewGroup(group_id=n, parent_id=1, name=f"n{n}") for n in range(2, 22)]
    group = [21 - n % 20 if n % 3 else 0 for n in range(60)]
    batch = await world.submit(job_rows(60, group=group), groups=groups)
    inside = [n + 1 for n in range(60) if n % 3]

    assert await ids(world, batch, "", group="/a") == inside
    assert (
        await ids(world, batch, "", group="/a", after=30, limit=5)
        == [n for n in inside if n > 30][:5]
    )


async def test_jobs_of_an_array_have_its_name_and_attributes(world: World) -> None:
    """One that was named by hand has that name only."""
    batch = await world.submit(array_rows(20, None, 3))
    limits = EditLimits(attributes_max=9, rename_groups_max=9)
    await world.api.edit_job(world.caller, batch, 5, patch={"name": "one"}, limits=limits)
    others = [number for number in range(1, 21) if number != 5]

    assert await ids(world, batch, "name = array1") == others
    assert await ids(world, batch, "name = array1", after=10, limit=3) == [11, 12, 13]
    assert await ids(world, batch, "name = one") == [5]
    assert await ids(world, batch, "name = one or name = array1") == [*range(1, 21)]
    assert await ids(world, batch, "name !~ array1") == [5, 22, 23, 24]
    assert await ids(world, batch, "k = 22") == [22, 23, 24]
    assert await ids(world, batch, '"22"') == [22, 23, 24]


async def test_plan_is_told_without_values(world: World) -> None:
    batch = await world.submit(labelled_rows())
    plan = await world.api.explain_jobs(
        world.caller,
        batch,
        JobQuery(
            query=parse_query("name = secret and cost > 5", Subject.JOBS), limit=50, limits=LIMITS
        ),
    )

    assert "secret" not in plan["sql"]
    assert any("job_label_name_idx" in line for line in plan["plan"])
    assert not any("rows=" in line for line in plan["plan"])


async def batches(world: World, query: str, *, before: int | None = None) -> list[int]:
    node = parse_query(query, Subject.BATCHES)
    wanted = BatchQuery(query=node, before=before, limit=100, limits=LIMITS)
    rows = await world.api.query_batches(world.caller, wanted)
    return [row["id"] for row in rows]


@pytest.mark.parametrize("folded", [False, True])
async def test_batch_that_was_cancelled_after_its_end_is_found_as_success(
    world: World, *, folded: bool
) -> None:
    batch = await world.submit(1)
    await (await world.worker()).run()
    await world.api.cancel_group(world.caller, batch, 0, force=False)
    if folded:
        await world.fold()
    document = await world.api.get_batch(world.caller, batch)

    assert (document["state"], document["cancelled"]) == ("success", True)
    assert await batches(world, "state = success") == [batch]
    assert await batches(world, "state = cancelled") == []


@pytest.mark.parametrize("folded", [False, True])
async def test_each_term_finds_its_batches(world: World, folded: bool) -> None:
    """Also what is not folded yet counts."""
    word_by_id = {number: word for word, number in (await varied_batches(world)).items()}
    if folded:
        await world.fold()
    terms = {
        text: words
        for text, words in BATCH_TERMS.items()
        if folded or not text.startswith("end_time")  # a completion is recorded by the fold
    }
    found = {text: [word_by_id[number] for number in await batches(world, text)] for text in terms}

    newest_first = sorted(word_by_id, reverse=True)
    assert found == {
        text: [word_by_id[number] for number in newest_first if word_by_id[number] in words]
        for text, words in terms.items()
    }


async def test_batches_come_in_pages(world: World) -> None:
    numbers = [await world.submit() for _ in range(5)]

    assert await batches(world, "cost >= 0", before=numbers[3]) == numbers[2::-1]


async def test_plan_of_a_query_of_batches_is_told(world: World) -> None:
    node = parse_query("state = running and cost > 5", Subject.BATCHES)
    wanted = BatchQuery(query=node, limit=50, limits=LIMITS)
    plan = await world.api.explain_batches(world.caller, wanted)

    assert any("batch" in line for line in plan["plan"])
