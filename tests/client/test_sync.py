import asyncio
import multiprocessing
import subprocess
import sys
import threading
from concurrent.futures import CancelledError
from contextlib import suppress

import pytest

from weft import Client
from weft.client.loop_thread import ClientClosed, LoopThread
from weft.client.submission.refs import NotSubmitted

URL = "http://127.0.0.1:9"


def test_a_closed_client_says_so() -> None:
    client = Client(URL, "t")
    client.close()
    client.close()

    with pytest.raises(ClientClosed, match="closed"):
        client.get_batch(1)


def test_a_client_does_not_survive_a_fork() -> None:
    client = Client(URL, "t")
    told: multiprocessing.SimpleQueue[str] = multiprocessing.get_context("fork").SimpleQueue()

    def use() -> None:
        try:
            client.get_batch(1)
        except ClientClosed as error:
            told.put(error.detail)

    child = multiprocessing.get_context("fork").Process(target=use)
    child.start()
    child.join(30)

    assert "forked" in told.get()
    client.close()


def test_a_job_has_no_number_before_its_submission() -> None:
    with Client(URL, "t") as client:
        job = client.create_batch().create_job()

        with pytest.raises(NotSubmitted):
            job.status()


def test_a_client_that_is_never_closed_leaves_no_warning_behind() -> None:
    script = f"""
import logging
from weft import Client
logging.getLogger("asyncio").setLevel(logging.ERROR)  # a slow machine is no warning
from weft.core.errors import Unavailable
client = Client({URL!r}, "t")
try:
    client.get_batch(1)
except Unavailable:
    print("away")
"""
    done = subprocess.run(
        [sys.executable, "-X", "dev", "-W", "error", "-c", script],
        check=False,
        capture_output=True,
        text=True,
        timeout=60,
    )

    assert (done.returncode, done.stdout, done.stderr) == (0, "away\n", "")


async def forever() -> None:
    await asyncio.Event().wait()


def test_nobody_waits_for_a_loop_that_is_closed_meanwhile() -> None:
    """Whatever moment the close meets: before the loop runs the call, while it ends, or after."""
    for _ in range(300):
        loop_thread = LoopThread()
        closer = threading.Thread(target=loop_thread.close)
        closer.start()
        with suppress(CancelledError, ClientClosed):
            loop_thread.wait(forever())
        closer.join()


def test_a_closed_runner_says_so_to_who_waits_and_leaves_the_rest_undone() -> None:
    loop_thread = LoopThread()
    loop_thread.close()

    with pytest.raises(ClientClosed):
        loop_thread.wait(forever())
    loop_thread.thread = threading.current_thread()  # it lives on for a moment
    loop_thread.post(pytest.fail)
    loop_thread.start(forever())
