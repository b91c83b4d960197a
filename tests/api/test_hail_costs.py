"""What jobs of Hail's client used and cost, in all documents alike."""

from api.hail_door import Hail, job
from api.live import LiveWorker
from weft.core.states import AttemptKey
from weft.run.doors import api_doors
from weft.wire.usage_format import UsageSample

LIVE_DOORS = api_doors()


async def test_what_a_job_used_is_a_table(hail: Hail, worker: LiveWorker) -> None:
    b = await hail.submit("t", job(1, "true"), job(2, "true", in_update_parent_ids=[1]))
    waiting = await hail.ask("GET", f"/batches/{b}/jobs/2/resource_usage")
    (claimed,) = await worker.claim_and_start()
    samples = [UsageSample(1000, 500, 7 << 20), UsageSample(3000, 4500, 9 << 20)]
    await worker.keep_samples(AttemptKey(b, 1, 1), samples)
    used = await hail.ask("GET", f"/batches/{b}/jobs/1/resource_usage")
    (attempt,) = await hail.ask("GET", f"/batches/{b}/jobs/1/attempts")
    started = attempt["start_time_ms"]

    await worker.end([claimed])
    await worker.work()
    brief = await hail.ask("GET", f"/batches/{b}/jobs/2/resource_usage")
    (end,) = await hail.ask("GET", f"/batches/{b}/jobs/2/attempts")

    assert waiting == {}
    assert brief["main"]["data"] == [[end["end_time_ms"], 1, 1.0]]
    assert used["main"]["columns"] == ["time_msecs", "memory_in_bytes", "cpu_usage"]
    assert used["main"]["index"] == [0, 1]
    assert used["main"]["data"] == [
        [started + 1000, 7 << 20, 0.5], [started + 3000, 9 << 20, 2.0],
    ]  # fmt: skip


async def test_lists_say_what_each_resource_cost(hail: Hail, worker: LiveWorker) -> None:
    b = await hail.submit("t", job(1, "true"), job(2, "true", in_update_parent_ids=[1]))
    await worker.end(await worker.claim())
    ended, waiting = (await hail.ask("GET", f"/batches/{b}/jobs"))["jobs"]
    alone = await hail.ask("GET", f"/batches/{b}/jobs/1")
    names = ("cost", "cost_breakdown", "msec_mcpu")

    assert {name: ended[name] for name in names} == {name: alone[name] for name in names}
    assert ended["msec_mcpu"] > 0
    assert (waiting["cost"], waiting["cost_breakdown"]) == (0, [])


async def test_costs_are_the_same_in_all_documents(hail: Hail, worker: LiveWorker) -> None:
    groups = [{"job_group_id": n, "in_update_parent_id": n - 1} for n in (1, 2)]
    asked = {"cpu": "0.25", "memory": "50Mi"}
    b = await hail.submit(
        "t", job(1, "true", in_update_job_group_id=2, resources=asked), job_groups=groups
    )
    await worker.work()
    paths = ("", "/job-groups/0", "/job-groups/1", "/job-groups/2", "/jobs/1")
    documents = [await hail.ask("GET", f"/batches/{b}{path}") for path in paths]
    documents += (await hail.ask("GET", f"/batches/{b}/jobs?recursive=1"))["jobs"]
    costs = [(one["cost"], one["cost_breakdown"]) for one in documents]

    assert costs[0][0] > 0
    assert costs == costs[:1] * 6
