"""What breaks a rule of tidiness today. The lists only shrink.

A test fails as well when an entry is no longer needed.
"""

SLEEPING_TESTS: frozenset[str] = frozenset(
    {
        "tests/runners/directory_engine.py",  # an engine that runs by the clock
        "tests/builders.py",  # an attempt is billed for the time that has passed
    }
)
"""Paths of tests with a call of `sleep`."""

CANCELLED_ONCE: frozenset[str] = frozenset(
    {
        "src/weft/cli/commands/logs.py",  # a command: Ctrl-C ends it, as it does the next three
        "src/weft/cli/terminal/many_logs.py",
        "src/weft/cli/terminal/waits.py",
        "packages/each/src/weft_each/command.py",
        "src/weft/client/http/exec_calls.py",  # its answer is closed as well
        "src/weft/driver/loops/autoscale.py",  # waits for so long, not for the end
        "packages/exec/src/weft_exec/relay.py",  # has the standard library alone
        "src/weft/ports/patience.py",  # cancels again
        "src/weft/run/api.py",  # its streams end in order
    }
)
"""Paths of modules in src/ that wait for what they have cancelled once."""

ADDRESS_OF_OTHERS = ("s3://results/work/", "")
"""What looks like a path of a machine in a document of others, and what is read instead."""

QUERY_TEXT: frozenset[str] = frozenset(
    {
        "packages/lines/src/weft_lines/sources/sql.py",  # wraps a query of the operator
        "src/weft/store/admin.py",  # sets passwords, which no function may be given
        "src/weft/store/database.py",  # the one call of a function, by name
        "src/weft/store/migrate.py",  # runs before there is a function to call
        "src/weft/store/migration_plan.py",  # knows statements by their first words
        "src/weft/store/query_sql/products.py",  # makes statements of the query language
        "src/weft/store/query_sql/jobs.py",  # makes statements of the query language
        "src/weft/store/query_sql/sorted_batches.py",  # makes statements of the query language
    }
)
"""Paths of modules in src/ with SQL in a string."""

PROVOKED_BY: dict[str, str] = {
    "BACKUP.REFUSED": "test_a_backup_is_restored_whole_or_not_at_all",
    "BACKUP.UNUSABLE": "test_a_backup_is_restored_whole_or_not_at_all",
    "CLI.NOTHING_TO_RESUME": "test_resume_of_what_never_was_is_refused",
    "DRIVER.LEAD_LOST": "test_leader_that_lost_its_lock_or_database_leads_again",
    "STORE.ILLEGAL_TRANSITION": "test_trigger_refuses_every_other_transition",
    "UP.PORT_IN_USE": "test_port_in_use_is_said_with_a_way_out",
}
"""Code and test, where the test sees the text of an error and not its name."""

UNPROVOKED: frozenset[str] = frozenset({"BENCH.FAILED", "UP.FAILED", "UP.ROLE_FAILED"})
"""Codes that no test provokes."""

LONG_SUBJECTS: frozenset[str] = frozenset(
    {
        "0d9af17",
        "1ca619d",
        "49bdf64",
        "6c28a6e",
        "751754a",
        "7dbd415",
        "a8b2183",
        "d0735ae",
        "ffa28b9",
    }
)
"""Commits whose subjects are too long: they cannot be changed any more."""

UNBOUNDED_QUEUES = {
    "src/weft/client/functions/calls.py": "calls under way",
    "packages/exec/src/weft_exec/relay.py": "WINDOW of each connection",
    "src/weft/plugins/runners/spawner/beside.py": "BYTES_MAX of input",
    "packages/brokers/src/weft_brokers/kafka/consumer.py": "the limit and AHEAD",
    "packages/brokers/src/weft_brokers/kafka/topics.py": "OUTCOMES_MAX places",
    "packages/brokers/src/weft_brokers/rabbitmq/__init__.py": "the prefetch count",
    "src/weft/run/log_stores.py": "folders of databases",
    "src/weft/run/up.py": "signals, which somebody sends by hand",
    "src/weft/worker/agent/job_files.py": "attempts of the worker",
    "src/weft/worker/spawner/prepared.py": "places of the worker",
}
"""Paths of modules in src/ with a queue that has no size, and what bounds it instead."""
