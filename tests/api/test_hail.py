"""The door for Hail's client, asked as that client asks it."""

import json
from typing import Any

import httpx

from api.hail_door import API, Hail, batch, job
from api.live import LiveApi, LiveWorker, add, fold, leading
from weft.core.states import Reason
from weft.driver.callback_forms import body_of
from weft.run.doors import api_doors, callback_forms

LIVE_DOORS = api_doors()


async def test_batch_is_submitted_run_and_read(hail: Hail, worker: LiveWorker) -> None:
    b = await hail.submit(
        "t1",
        job(1, "echo", attributes={"name": "first", "k": "v"}, env=[{"name": "A", "value": "1"}]),
        job(2, "true", in_update_parent_ids=[1], always_run=True),
        attributes={"name": "all"},
    )
    waiting = await hail.ask("GET", f"/batches/{b}")
    for of_job in ("", "/jobs/1"):  # as hailtop prints it
        link = await hail.http.get(f"/batches/{b}{of_job}")
        page = f"/ui/batches/b{b}" + of_job.replace("/1", "/j1")
        assert (link.status_code, link.headers["location"]) == (303, page)
    (claimed,) = await worker.claim_and_start()
    worker.write(claimed, (1, b"out "), (2, b"err\n"))
    await worker.end([claimed], output=(4, 4))
    await worker.work()
    done = await hail.ask("GET", f"/batches/{b}")
    one = await hail.ask("GET", f"/batches/{b}/jobs/1")
    log = await hail.ask("GET", f"/batches/{b}/jobs/1/log")
    raw = await hail.http.get(f"{API}/batches/{b}/jobs/1/log/main")
    attempts = await hail.ask("GET", f"/batches/{b}/jobs/1/attempts")

    assert (waiting["state"], waiting["complete"], waiting["token"]) == ("running", False, "t1")
    assert (done["state"], done["complete"], done["n_succeeded"]) == ("success", True, 2)
    assert done["attributes"] == {"name": "all"}
    assert done["cost"] > 0
    assert done["msec_mcpu"] > 0
    assert (one["state"], one["exit_code"], one["name"]) == ("Success", 0, "first")
    assert one["attributes"] == {"name": "first", "k": "v"}
    assert one["spec"]["process"]["image"] == "ubuntu:24.04"
    assert one["spec"]["env"] == [{"name": "A", "value": "1"}]
    main = one["status"]["container_statuses"]["main"]
    assert (main["state"], main["container_status"]["out_of_memory"]) == ("succeeded", False)
    assert log == {"main": "out err\n"}
    assert raw.content == b"out err\n"
    assert [one["attempt_id"] for one in attempts] == [f"b{b}j1a1"]


async def test_same_token_is_the_same_batch_whatever_it_says(hail: Hail) -> None:
    first = await hail.submit("t", job(1, "true"))
    again = await hail.submit("t", job(1, "false"), job(2, "false"))
    slow = await hail.ask("POST", "/batches/create", batch("s", n_jobs=2))
    slow_again = await hail.ask("POST", "/batches/create", batch("s", n_jobs=2))
    bare = await hail.ask("POST", "/batches/create", batch("e"))

    assert first == again
    assert slow == slow_again
    assert (slow["update_id"], slow["start_job_id"], slow["start_job_group_id"]) == (1, 1, 1)
    assert bare | {"id": 0} == {
        "id": 0,
        "update_id": None,
        "start_job_id": None,
        "start_job_group_id": None,
    }


async def test_bunches_fill_an_update_that_is_seen_after_its_commit(hail: Hail) -> None:
    made = await hail.ask("POST", "/batches/create", batch("t", n_jobs=3, n_groups=2))
    b, u = made["id"], made["update_id"]
    update = f"/batches/{b}/updates/{u}"
    groups = [
        {"job_group_id": 1, "in_update_parent_id": 0},
        {"job_group_id": 2, "in_update_parent_id": 1},
    ]
    await hail.ask("POST", f"{update}/job-groups/create", groups)
    last = [job(3, "c", in_update_parent_ids=[1, 2], in_update_job_group_id=2)]
    first = [job(1, "a", in_update_job_group_id=0), job(2, "b", in_update_job_group_id=1)]
    await hail.ask("POST", f"{update}/jobs/create", last)
    incomplete = await hail.refused("PATCH", f"{update}/commit")
    for _ in range(2):
        await hail.ask("POST", f"{update}/jobs/create", first)
    unseen = await hail.refused("GET", f"/batches/{b}/jobs/1")
    committed = [await hail.ask("PATCH", f"{update}/commit") for _ in range(2)]
    late = await hail.refused("POST", f"{update}/jobs/create", first)
    seen = await hail.ask("GET", f"/batches/{b}/jobs/3")
    tree = await hail.ask("GET", f"/batches/{b}/job-groups")
    below = await hail.ask("GET", f"/batches/{b}/job-groups/1/job-groups")
    own = await hail.ask("GET", f"/batches/{b}/job-groups/1/jobs")
    all_below = await hail.ask("GET", f"/batches/{b}/job-groups/1/jobs?recursive=True")

    assert incomplete == (400, "wrong number of jobs: expected 3, actual 1")
    assert unseen[0] == 404
    assert committed == [{"start_job_group_id": 1, "start_job_id": 1}] * 2
    assert late == (400, "update 1 is already committed")
    assert (seen["job_group_id"], seen["state"]) == (2, "Pending")
    assert [one["job_group_id"] for one in tree["job_groups"]] == [1]
    assert [(one["job_group_id"], one["n_jobs"]) for one in below["job_groups"]] == [(2, 1)]
    assert [one["job_id"] for one in own["jobs"]] == [2]
    assert [one["job_id"] for one in all_below["jobs"]] == [2, 3]


async def test_updates_refer_to_what_is_there(hail: Hail, worker: LiveWorker) -> None:
    b = await hail.submit(
        "t",
        job(1, "a", in_update_job_group_id=1),
        job_groups=[{"job_group_id": 1, "in_update_parent_id": 0, "attributes": {"name": "g"}}],
    )
    body = {
        "update": {"token": "u", "n_jobs": 2, "n_job_groups": 1},
        "bunch": [
            job(1, "b", absolute_parent_ids=[1], absolute_job_group_id=1),
            job(2, "c", in_update_parent_ids=[1], in_update_job_group_id=1),
        ],
        "job_groups": [{"job_group_id": 1, "absolute_parent_id": 1}],
    }
    first, again = [await hail.ask("POST", f"/batches/{b}/update-fast", body) for _ in range(2)]
    await worker.work()
    group = await hail.ask("GET", f"/batches/{b}/job-groups/1")
    inner = await hail.ask("GET", f"/batches/{b}/job-groups/2")
    third = await hail.ask("GET", f"/batches/{b}/jobs/3")

    assert first == again == {"update_id": 2, "start_job_id": 2, "start_job_group_id": 2}
    assert (group["n_jobs"], group["state"], group["attributes"]) == (3, "success", {"name": "g"})
    assert (inner["n_jobs"], inner["complete"]) == (1, True)
    assert third["job_group_id"] == 2


async def test_cancel_of_a_group_leaves_others_and_what_always_runs(
    hail: Hail, worker: LiveWorker, database: dict[str, str]
) -> None:
    group = {"job_group_id": 1, "in_update_parent_id": 0}
    b = await hail.submit(
        "t",
        job(1, "a", in_update_job_group_id=1),
        job(2, "b", in_update_job_group_id=1, always_run=True),
        job(3, "c"),
        job_groups=[group],
    )
    for _ in range(2):
        await hail.ask("PATCH", f"/batches/{b}/job-groups/1/cancel")
    await fold(database["weft_driver"])
    await worker.work()
    rows = (await hail.ask("GET", f"/batches/{b}/jobs?recursive=1"))["jobs"]
    update = {
        "update": {"token": "u", "n_jobs": 1},
        "bunch": [job(1, "x", absolute_job_group_id=1)],
    }
    into = await hail.refused("POST", f"/batches/{b}/update-fast", update)
    below = {
        "update": {"token": "v", "n_jobs": 0, "n_job_groups": 1},
        "job_groups": [{"job_group_id": 1, "absolute_parent_id": 1}],
    }
    under = await hail.refused("POST", f"/batches/{b}/update-fast", below)
    await hail.ask("PATCH", f"/batches/{b}/cancel")
    whole = await hail.refused("POST", f"/batches/{b}/updates/create", {"token": "w", "n_jobs": 1})
    after = await hail.ask("GET", f"/batches/{b}")

    assert [row["state"] for row in rows] == ["Cancelled", "Success", "Success"]
    assert (into[0], into[1].startswith("bunch contains job where the job group")) == (400, True)
    assert under == (400, "job group parent has already been cancelled")
    assert whole == (400, "Cannot submit new jobs or job groups to a cancelled batch")
    assert (after["state"], after["complete"]) == ("cancelled", True)


async def test_pages_have_fifty(hail: Hail) -> None:
    b = await hail.submit("t", *[job(n, "true") for n in range(1, 101)])
    first = await hail.ask("GET", f"/batches/{b}/jobs")
    second = await hail.ask("GET", f"/batches/{b}/jobs?last_job_id=50")
    third = await hail.ask("GET", f"/batches/{b}/jobs?last_job_id=100")
    for n in range(50):
        await hail.ask("POST", "/batches/create", batch(f"empty-{n}"))
    newest = await hail.ask("GET", "/batches")
    oldest = await hail.ask("GET", f"/batches?last_batch_id={newest['last_batch_id']}")

    assert [len(page["jobs"]) for page in (first, second, third)] == [50, 50, 0]
    assert (first["last_job_id"], second["last_job_id"]) == (50, 100)
    assert "last_job_id" not in third
    assert len(newest["batches"]) == 50
    assert [one["id"] for one in oldest["batches"]] == [b]
    assert "last_batch_id" not in oldest
    assert "spec" not in first["jobs"][0]


async def test_queries_of_jobs(hail: Hail, worker: LiveWorker) -> None:
    b = await hail.submit(
        "t",
        job(1, "a", attributes={"tag": "x"}),
        job(2, "b", attributes={"tag": "y"}),
        job(3, "c"),
    )
    first, second = [(await worker.claim(1))[0] for _ in range(2)]
    for one, code in ((first, 0), (second, 1)):
        await worker.start([one])
        await worker.end([one], exit_code=code)
    for version, query, numbers in [
        (1, "", [1, 2, 3]),
        (1, "success", [1]),
        (1, "bad", [2]),
        (1, "!done", [3]),
        (1, "tag=x", [1]),
        (1, "!tag=x", [2, 3]),
        (1, "has:tag job_id=2", [2]),
        (2, "", [1, 2, 3]),
        (2, "state = failed", [2]),
        (2, "state!=failed", [1, 3]),
        (2, "job_id >= 2\nstate == ready", [3]),
        (2, "exit_code != 0", [2, 3]),
        (2, "exit_code = NULL", [3]),
        (2, "tag != x", [2]),
        (2, "tag =~ x", [1]),
        (2, '"tag"', [1, 2]),
        (2, "ag", [1, 2]),
        (2, "cost >= $0\njob_id<3", [1, 2]),
        (2, "start_time > 2023-02-24T17:15:25Z", [1, 2]),
        (2, "instance = w1", [1, 2]),
    ]:
        path = f"/api/v{version}alpha/batches/{b}/jobs"
        answer = await hail.http.get(path, params={"q": query})

        assert answer.status_code == 200, answer.text
        assert [one["job_id"] for one in answer.json()["jobs"]] == numbers


async def test_queries_that_do_not_parse(hail: Hail) -> None:
    for path, query, text in [
        ("/api/v1alpha/batches", "nonsense", "Invalid search term: nonsense."),
        ("/api/v1alpha/batches/1/jobs", "job_id=x", "Invalid search term: job_id=x."),
        ("/api/v2alpha/batches", "a b", 'could not parse term "a b"'),
        ("/api/v2alpha/batches", "state = odd", 'unknown state "odd"'),
        ("/api/v2alpha/batches", "batch_id = x", "expected int, but found x"),
        ("/api/v2alpha/batches", "cost > x", "expected float, but found x"),
        ("/api/v2alpha/batches", "start_time > yesterday", "expected date, but found yesterday"),
        ("/api/v2alpha/batches", "user =~ x", 'unexpected operator "=~" expected one of'),
    ]:
        answer = await hail.http.get(path, params={"q": query})

        assert answer.status_code == 400
        assert text in answer.text


async def test_billing_projects(hail: Hail) -> None:
    bob = await add(hail.http, "bob")
    made = [await hail.ask("POST", "/billing_projects/Lab/create") for _ in range(2)]
    bare = await hail.ask("GET", "/billing_projects/Lab")
    ours = (await hail.http.get("/v1/billing-projects/Lab")).json()
    no_member = await hail.refused("POST", "/batches/create", batch("t", billing_project="Lab"))
    await hail.ask("POST", "/billing_projects/Lab/users/bob/add")
    nobody = await hail.refused("POST", "/billing_projects/Lab/users/nobody/add")
    await hail.ask("POST", "/billing_projects/Lab/users/nobody/remove")
    limit = await hail.ask("POST", "/billing_limits/Lab/edit", {"limit": 0})
    over = await hail.http.post(
        f"{API}/batches/create", json=batch("t", billing_project="Lab"), headers=bob
    )
    not_his = await hail.http.post(f"{API}/billing_projects/x/create", headers=bob)
    foreign = await hail.http.get(f"{API}/billing_projects/other", headers=bob)
    open_ = await hail.refused("POST", "/billing_projects/Lab/delete")
    await hail.ask("POST", "/billing_projects/Lab/close")
    closed = await hail.ask("GET", "/billing_projects?status=closed")
    on_closed = await hail.refused("POST", "/billing_limits/Lab/edit", {"limit": 5})
    await hail.ask("POST", "/billing_projects/Lab/reopen")
    await hail.ask("POST", "/billing_projects/Lab/close")
    for _ in range(2):
        await hail.ask("POST", "/billing_projects/Lab/delete")
    never = await hail.refused("POST", "/billing_projects/lab2/delete")
    gone = await hail.refused("POST", "/billing_projects/Lab/reopen")

    assert made == ["Lab", "Lab"]
    assert bare | {"accrued_cost": 0} == {
        "billing_project": "Lab",
        "status": "open",
        "users": [],
        "limit": None,
        "accrued_cost": 0,
    }
    assert (ours["on_limit"], ours["cost_max"]) == ("cancel", None)
    assert no_member == (403, "Unknown Hail Batch billing project Lab.")
    assert nobody == (403, "User nobody does not exist.")
    assert limit == {"billing_project": "Lab", "limit": 0}
    assert (over.status_code, "exceeded the budget" in over.text) == (403, True)
    assert (not_his.status_code, foreign.status_code, open_[0]) == (401, 403, 403)
    assert [one["billing_project"] for one in closed] == ["Lab"]
    assert on_closed[0] == 403
    assert (gone[0], never[0]) == (403, 404)


JVM = {"type": "jvm", "jar_spec": {"type": "jar_url", "value": "x"}, "command": []}
BUCKET = {"bucket": "b", "mount_path": "/b", "read_only": True}
REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"odd": 1}, "unknown keys in jobs[0]: {'odd'}"),
    ({"timeout": 0}, "jobs[0].timeout does not satisfy the condition x > 0"),
    ({"env": {}}, "jobs[0].env is not <class 'list'>"),
    ({"attributes": {"foo": 1}}, "jobs[0].attributes[foo] is not <class 'str'>"),
    ({"resources": {"memory": "much"}}, "jobs[0].resources.memory does not satisfy any cond"),
    ({"resources": {"cpu": "0.3"}}, "cpu must be a power of two with a min of 0.25; found 0.3."),
    ({"resources": {"cpu": "64"}}, "are unsatisfiable: cloud="),
    ({"resources": {"cpu": "16"}}, "are unsatisfiable"),
    ({"resources": {"machine_type": "n1"}}, "machine_type is not supported"),
    ({"resources": {"machine_type": "n1", "storage": "9999999Gi"}}, "are unsatisfiable"),
    ({"cloudfuse": [BUCKET]}, "cloudfuse needs a cloud"),
    ({"cloudfuse": [{**BUCKET, "read_only": False}]}, "Only read-only cloudfuse requests are"),
    ({"cloudfuse": [{**BUCKET, "mount_path": "/io"}]}, "mount_path=/io are not supported"),
    ({"in_update_parent_ids": [1, 1]}, "bunch contains job with duplicated parents"),
    ({"in_update_parent_ids": [2]}, "cannot have the parent 2"),
    ({"regions": ["mars"]}, "invalid regions specified: {'mars'}"),
    ({"network": "private"}, "unauthorized network private"),
    ({"unconfined": True}, "unauthorized use of unconfined=True"),
    ({"process": JVM}, "jvm"),
    ({"input_files": [{"from": "gs://b/x", "to": "/io/x"}]}, "weft://b1.j1/PATH, s3://lab/…"),
    *(
        ({"input_files": [{"from": url, "to": "/io/x"}]}, "neither . nor ..")
        for url in ("store://lab/../x", "store://lab/a/../../x", "file:///a/../x", "../x")
    ),
    ({"in_update_job_group_id": 3}, "no job group 3"),
]


async def test_specs_are_refused_in_the_words_of_hail(hail: Hail, worker: LiveWorker) -> None:
    store = {"url": "s3://lab", "access": "read", "credentials": "env"}
    await hail.http.put("/v1/stores/lab", json=store)
    for more, text in REFUSED:
        body = {"batch": batch("t", n_jobs=1), "bunch": [job(1, "true", **more)]}
        status, said = await hail.refused("POST", "/batches/create-fast", body)
        listed = await hail.ask("GET", "/batches")

        assert (status, text in said) == (400, True), said
        assert listed == {"batches": []}


async def test_old_forms_of_jobs_are_taken(hail: Hail) -> None:
    old = {
        "job_id": 1,
        "command": ["true"],
        "image": "i",
        "mount_docker_socket": False,
        "parent_ids": [],
        "pvc_size": "1Gi",
        "gcsfuse": [],
    }
    b = await hail.submit("t", old)
    spec = (await hail.ask("GET", f"/batches/{b}/jobs/1"))["spec"]

    assert spec["process"]["command"] == ["true"]
    assert spec["resources"] == {"storage": "1Gi"}


async def test_what_is_not_ones_own_does_not_exist(hail: Hail, api: LiveApi) -> None:
    b = await hail.submit("t", job(1, "true"))
    ann = await add(hail.http, "ann")
    bob = await add(hail.http, "bob")
    left = await hail.http.request("DELETE", "/v1/billing-projects/default/members/bob")
    routes = [one.partition(" ") for one in api.app.rights if "{b}" in one and "/api/" in one]
    strangers, owners = {}, {}
    for method, _, route in routes:
        path = route.format(b=b, u=1, g=0, j=1, container="main")
        body: Any = [] if route.endswith(("bs/create", "ups/create")) else {}
        answer = await hail.http.request(method, path, headers=bob, json=body)
        strangers[method, route] = answer.status_code
        if "update" in route:
            body = {"token": "u", "n_jobs": 0} if route.endswith("updates/create") else body
            body = {"update": {"token": "u", "n_jobs": 0}} if "fast" in route else body
            of_member = await hail.http.request(method, path, headers=ann, json=body)
            owners[method, route] = of_member.status_code
    member = await hail.http.get(f"{API}/batches/{b}", headers=ann)

    assert left.status_code == 200
    wrong = {key: status for key, status in strangers.items() if status != 404}
    assert (len(strangers) > 20, wrong) == (True, {})
    assert set(owners.values()) == {404}
    assert member.status_code == 200


async def test_about_the_user_and_the_site(hail: Hail, api: LiveApi) -> None:
    """Some of it without a token."""
    async with httpx.AsyncClient(base_url=api.url) as http:
        paths = (f"{API}/cloud", f"{API}/version", "/healthcheck", f"{API}/batches")
        answers = [await http.get(path) for path in paths]
    user = await hail.ask("GET", "/userinfo")
    regions = await hail.ask("GET", "/supported_regions")
    region = await hail.http.get(f"{API}/default_region")

    assert [one.status_code for one in answers] == [200, 200, 200, 401]
    assert (answers[1].text, region.text in regions) == ("0.2.139", True)
    assert (user["username"], user["state"]) == ("tester", "active")


async def test_number_of_attempts_counts_those_that_were_lost(
    hail: Hail, worker: LiveWorker
) -> None:
    b = await hail.submit("t", job(1, "true", n_max_attempts=2), job(2, "true", n_max_attempts=9))
    states = []
    for _ in range(2):
        claimed = await worker.claim_and_start()
        await worker.end(claimed, reason=Reason.LOST)
        rows = (await hail.ask("GET", f"/batches/{b}/jobs"))["jobs"]
        states.append([row["state"] for row in rows])
    claimed = await worker.claim_and_start()
    await worker.end(claimed, exit_code=1)
    failed = await hail.ask("GET", f"/batches/{b}/jobs/2")

    assert states == [["Ready", "Ready"], ["Error", "Ready"]]
    assert (failed["state"], failed["n_max_attempts"]) == ("Failed", 9)


async def test_callbacks_carry_the_documents_of_the_door(
    hail: Hail, worker: LiveWorker, database: dict[str, str]
) -> None:
    """Of inner groups first."""
    url = "https://hook.example/"
    groups = [
        {
            "job_group_id": 1,
            "in_update_parent_id": 0,
            "callback": url + "g",
            "attributes": {"k": "v"},
        },
    ]
    b = await hail.submit(
        "t", job(1, "true", in_update_job_group_id=1), job_groups=groups, callback=url
    )
    await worker.work()
    await fold(database["weft_driver"])
    async with leading(database["weft_driver"]) as (driver, epoch):
        due = await driver.due_callbacks(epoch, [], limit_all=9, limit_tenant=9, limit_host=9)
    sent = [json.loads(body_of(one, callback_forms()).data) for one in due if one.batch_id == b]
    of_group, of_batch = sorted(sent, key=lambda one: "id" in one)

    assert of_group == await hail.ask("GET", f"/batches/{b}/job-groups/1")
    assert of_batch == await hail.ask("GET", f"/batches/{b}")
    assert of_batch["token"] == "t"


async def test_groups_of_other_bunches_count_for_the_depth(hail: Hail) -> None:
    made = await hail.ask("POST", "/batches/create", batch("t", n_groups=3))
    path = f"/batches/{made['id']}/updates/{made['update_id']}/job-groups/create"
    for number in (1, 2):
        spec = {"job_group_id": number, "in_update_parent_id": number - 1}
        await hail.ask("POST", path, [spec])
    third = await hail.refused("POST", path, [{"job_group_id": 3, "in_update_parent_id": 2}])
    await hail.ask("POST", path, [{"job_group_id": 3, "in_update_parent_id": 1}])

    assert third == (400, "job group exceeded the maximum level of nesting")
