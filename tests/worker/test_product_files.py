"""What jobs say that they have made, and what they put in the file's place."""

import pytest

from weft.core.states import Reason
from weft.wire.documents.files import FileInput
from worker.worker_process import Worker, sh

FSC = """echo '{"type": "FSC"}' >> $WEFT_PRODUCTS"""


async def test_products_are_recorded_before_the_end(worker: Worker) -> None:
    """Also with an exit code, which a lifecycle may call a success; a job without names none."""
    worker.store.submit(sh(f"{FSC}; {FSC}"), sh(f"{FSC}; exit 3"), sh("true"))
    reports = {one.job_id: one for one in await worker.store.until(3)}
    await worker.stop()

    assert worker.store.products == [({"type": "FSC"}, None)] * 3
    assert [reports[n].exit_code for n in (1, 2, 3)] == [0, 3, 0]
    assert list((worker.files.scratch / "products").iterdir()) == []


async def test_products_name_the_files_that_their_job_got(worker: Worker) -> None:
    inputs = (FileInput(from_="weft://j9/a", optional=True),)
    worker.store.submit(sh(FSC, inputs=inputs, requires=("files",)))
    await worker.store.until(1)

    got = [{"from": "weft://j9/a", "optional": True}]
    assert worker.store.products == [({"type": "FSC"}, got)]


@pytest.mark.parametrize(
    ("script", "why"),
    [
        ("echo snow > $WEFT_PRODUCTS", "line 1 is no JSON object"),
        ("ln -s /etc/passwd $WEFT_PRODUCTS", "Too many levels of symbolic links"),
        ("mkfifo $WEFT_PRODUCTS", "they are in no plain file"),
        ("mkdir $WEFT_PRODUCTS", "they are in no plain file|Is a directory"),
    ],
)
async def test_what_cannot_be_kept_fails_the_job(worker: Worker, script: str, why: str) -> None:
    worker.store.submit(sh(script))
    (report,) = await worker.store.until(1)

    assert report.reason == Reason.FILES
    assert any(part in report.message for part in why.split("|"))
    assert worker.store.products == []


async def test_products_outlive_the_agent(worker: Worker) -> None:
    gate = worker.logs / "gate"
    worker.store.submit(sh(f"while [ ! -e {gate} ]; do sleep 0.01; done; {FSC}"))
    await worker.store.until_started(1)
    await worker.crash()
    gate.touch()
    await worker.start()
    await worker.store.until(1)

    assert worker.store.products == [({"type": "FSC"}, None)]
