"""What Hail's contract refuses, and what it does not."""

from api.hail_door import API, Hail, batch, job
from api.live import LiveWorker, add
from weft.run.doors import api_doors

LIVE_DOORS = api_doors()
ARGUMENT_BYTES = 900 << 10
"""Of one argument, more than any kernel takes."""


async def test_bunches_of_groups_come_in_order(hail: Hail) -> None:
    """One that is there may come again."""
    made = await hail.ask("POST", "/batches/create", batch("t", n_groups=3))
    path = f"/batches/{made['id']}/updates/1/job-groups/create"
    bunches = [[{"job_group_id": n, "in_update_parent_id": 0}] for n in (1, 2, 3)]
    early = [await hail.refused("POST", path, bunch) for bunch in bunches[1:]]
    for bunch in (bunches[0], bunches[1], bunches[0], bunches[2]):
        await hail.ask("POST", path, bunch)
    await hail.ask("PATCH", f"/batches/{made['id']}/updates/1/commit")

    assert early == [(400, "job group specs were not submitted in order")] * 2


async def test_old_clients_add_jobs_and_close_the_batch(hail: Hail) -> None:
    bob = await add(hail.http, "bob")
    b = (await hail.ask("POST", "/batches/create", batch("t", n_jobs=2)))["id"]
    empty = (await hail.ask("POST", "/batches/create", batch("e")))["id"]
    jobs, close = f"/batches/{b}/jobs/create", f"/batches/{b}/close"
    await hail.ask("POST", jobs, [job(1, "x")])
    incomplete = await hail.refused("PATCH", close)
    await hail.ask("POST", jobs, [job(2, "x")])
    foreign = [
        (await hail.http.patch(API + close, headers=bob)).status_code,
        (await hail.http.post(API + jobs, json=[job(1, "x")], headers=bob)).status_code,
    ]
    for path in (close, close, f"/batches/{empty}/close"):
        await hail.ask("PATCH", path)
    late = await hail.refused("POST", jobs, [job(1, "x")])

    assert incomplete == (400, "wrong number of jobs: expected 2, actual 1")
    assert foreign == [404, 404]
    assert late == (400, "update 1 is already committed")
    assert (await hail.ask("GET", f"/batches/{b}"))["n_jobs"] == 2


async def test_administrators_see_batches_of_their_projects_only(hail: Hail) -> None:
    """Through this door; they administer all projects."""
    bob = await add(hail.http, "bob")
    for path in ("/create", "/users/bob/add"):
        await hail.ask("POST", f"/billing_projects/lab{path}")
    body = {"batch": batch("t", n_jobs=1, billing_project="lab"), "bunch": [job(1, "x")]}
    made = await hail.http.post(f"{API}/batches/create-fast", json=body, headers=bob)
    b = made.json()["id"]
    paths = (f"/batches/{b}", f"/batches/{b}/jobs", f"/batches/{b}/jobs/1/log")
    hidden = [(await hail.refused("GET", path))[0] for path in paths]
    kept = [await hail.refused("PATCH", f"/batches/{b}/cancel")]
    kept.append(await hail.refused("DELETE", f"/batches/{b}"))
    listed = (await hail.http.get(f"{API}/batches", params={"q": ""})).json()["batches"]
    closing = await hail.refused("POST", "/billing_projects/lab/close")
    ours = await hail.http.get(f"/v1/batches/{b}")
    await hail.ask("POST", "/billing_projects/lab/users/tester/add")

    assert hidden == [404] * 3
    assert [status for status, _ in kept] == [404] * 2
    assert listed == []
    assert closing == (403, "Billing project lab has running batches.")
    assert ours.status_code == 200
    assert (await hail.ask("GET", f"/batches/{b}"))["billing_project"] == "lab"


async def test_long_command_is_an_error_of_its_job(hail: Hail) -> None:
    b = await hail.submit("t", job(1, "echo", "a" * ARGUMENT_BYTES))
    spec = (await hail.ask("GET", f"/batches/{b}/jobs/1"))["spec"]

    assert list(map(len, spec["process"]["command"])) == [4, ARGUMENT_BYTES]


async def test_refusals_have_the_words_of_the_contract(hail: Hail) -> None:
    """Those that no other test meets."""
    b = (await hail.ask("POST", "/batches/create", batch("t", n_jobs=1, n_groups=2)))["id"]
    groups, jobs = (f"/batches/{b}/updates/1/{one}/create" for one in ("job-groups", "jobs"))
    root = {"in_update_parent_id": 0}
    nameless = {key: value for key, value in job(1).items() if key != "job_id"}
    old = {"job_id": 1, "command": ["x"], "image": "i", "mount_docker_socket": True}
    account = {"namespace": "n", "name": "a"}
    for path in ("create", "users/tester/add", "close"):
        await hail.ask("POST", f"/billing_projects/lab/{path}")
    asked = [
        (groups, [{"job_group_id": 1}], 400, "must define in_update_parent_id or"),
        (
            groups,
            [{"job_group_id": n, **root} for n in (1, 3)],
            400,
            "noncontiguous job group ids",
        ),
        (jobs, [job(1), job(3)], 400, "noncontiguous job ids"),
        (jobs, [nameless], 400, "jobs[0] missing required key job_id."),
        (jobs, [old], 400, "mount_docker_socket is no longer supported"),
        (jobs, [job(1, "x", service_account=account)], 400, "unauthorized service account"),
        (jobs, [0] * 10_001, 413, "too many jobs"),
        *(
            ("/billing_limits/default/edit", {"limit": wrong}, 400, "Invalid billing_limit")
            for wrong in (-1, 10**400, "1e400", "nan", True, [5])
        ),
        (
            "/billing_limits/default/edit",
            {"limit": 3},
            400,
            "invalid billing_limit 3: the soft limit 4 is above the limit 3",
        ),
        ("/billing_projects/LAB/create", None, 403, "already exists"),
        (
            "/batches/create",
            batch("c", billing_project="lab"),
            403,
            "Billing project lab is closed or deleted.",
        ),
    ]
    await hail.http.patch("/v1/billing-projects/default", json={"cost_soft_max": 4})
    for path, body, status, words in asked:
        said = await hail.refused("POST", path, body)
        assert (said[0], words in said[1]) == (status, True), (path, words, said)


async def test_times_and_attempts_are_found_as_they_are_shown(
    hail: Hail, worker: LiveWorker
) -> None:
    """To the millisecond; an attempt by its own id only."""
    b = await hail.submit("t", job(1, "x"))
    await worker.work()
    shown = await hail.ask("GET", f"/batches/{b}")
    found = {}
    for sign in ("=", "!=", "<=", ">=", "<", ">"):
        answer = await hail.http.get(
            "/api/v2alpha/batches", params={"q": f"start_time {sign} {shown['time_created']}"}
        )
        found[sign] = bool(answer.json()["batches"])
    log = f"/batches/{b}/jobs/1/log/main?attempt_id="

    assert found == {"=": True, "!=": False, "<=": True, ">=": True, "<": False, ">": False}
    assert (await hail.http.get(f"{API}{log}b{b}j1a1")).status_code == 200
    assert (await hail.refused("GET", f"{log}b{b}j2a1"))[0] == 400
