"""Commands and clients that change all batches that a query finds, with a real driver."""

import json

import pytest

from e2e.conftest import Weft
from e2e.terminal import on_terminal, script_of
from e2e.test_batches import as_json
from weft import Client
from weft.core.errors import BadQuery

pytestmark = pytest.mark.heavy

ASK = script_of("cancel", "--batches", "@nightly")


def test_batches_of_a_query_are_changed_after_a_question(weft: Weft) -> None:
    with Client(home=weft.home) as client:
        batches = []
        for name in ("night", "night", "day"):
            builder = client.create_batch(name=name)
            builder.create_job(["sleep", "600"])
            batches.append(builder.submit())

        def are(word: str) -> list[bool]:
            return [bool(one.status()[word]) for one in batches]

        unasked = weft.run("hold", "--batches", "name = night", "--json")
        assert (unasked.returncode, json.loads(unasked.stderr)["code"]) == (
            2, "CLI.NOT_CONFIRMED",
        )  # fmt: skip
        done = weft.run("hold", "--batches", "name = night", "--yes")
        assert (done.returncode, done.stderr) == (0, b"weft: 2 batches held\n")
        assert are("held") == [True, True, False]
        again = as_json(weft, "hold", "--batches", "name = night or name = day", "--yes")
        assert (again["result"]["n_changed"], again["result"]["n_idle"]) == (1, 2)

        client.save_query("nightly", "name = night")
        with on_terminal(ASK, weft.environment()) as terminal:
            terminal.until("2 batches with 2 jobs")
            terminal.until("Cancel them? [y/N] ")
            terminal.type("n\n")
            terminal.until("nothing was changed")
            assert terminal.finish() == 4
        assert not any(are("cancelled"))
        with on_terminal(ASK, weft.environment()) as terminal:
            terminal.until("[y/N] ")
            terminal.type("y\n")
            terminal.until("2 batches cancelled")
            assert terminal.finish() == 0
        assert are("cancelled") == [True, True, False]
        (ended,) = as_json(weft, "operation", "ls", "-n", "1")
        told = weft.run("operation", "cancel", str(ended["id"])).stderr.decode()
        assert told == f"weft: operation {ended['id']} had ended (success): nothing to cancel\n"

        counted = client.count_batch_action("cancel", "name = day")
        assert (counted["n_batches"], counted["n_jobs"], counted["has_more"]) == (1, 1, False)
        found = client.act_on_batches("cancel", "name = day or name = night", shown=False)
        assert (found["n_changed"], found["n_idle"], found["skipped"]) == (1, 2, {})
        with pytest.raises(BadQuery):
            client.act_on_batches("cancel", "name =")
        assert all(are("cancelled"))
