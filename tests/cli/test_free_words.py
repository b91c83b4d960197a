"""Tab knows every argument and option that names something; the others stand here, with why."""

from collections.abc import Iterator, Mapping

from weft.cli.completion.cursor import ANY, COMMAND, FILES, read_commands
from weft.cli.completion.live_words import ASKS

FREE: Mapping[str, str] = {
    "a kind and a pattern": "tenant-set--allow",
    "a new name": """
        billing-project-create-0 schedule-add--name token-create-0 query-save-0 tenant-create-0
        tenant-create--admin user-add-0 run--name each--name submit--name resubmit--name
        rename-1 simulate--name up--worker-name worker--worker-name line-apply--name""",
    "of a production line, and few know more than one": """
        line-show-0 line-rm-0 line-deliveries-0 line-redeliver-0 line-drop-0 line-decide-0
        lifecycle-show-0 lifecycle-graph-0 source-items-0 source-pause-0
        source-resume-0 source-replay-0 source-replay-1 source-test-0 source-why-0 source-why-1
        series-show-0 series-show-1 series-rerun-0 series-rerun-1
        param-set-0 param-get-0 param-history-0""",
    "a login of dashboards, which the owner of the database names": """
        db-views-add-0 db-views-rm-0""",
    "an application of a thousand, or the user whose it is": """
        app-show-0 app-rm-0 app-add--for app-rm--for""",
    "a store of files, of which a tenant has few": """
        store-add-0 store-add-1 store-show-0 store-rm-0 store-test-0 store-add--region""",
    "a file that a job has left": """
        files-cat-1 files-get-1""",
    "a connection of the server, which few have": """
        up--broker transport-show-0 transport-test-0""",
    "a system whose jobs can be imported: one": "import-0",
    "a status, of which each lifecycle has its own": "line-set-1",
    "a version of Python, of which each worker has its own": "--python",
    "how far a job is, and a word on it": "progress-0 progress-1",
    "a port of a job": "forward-1",
    "what a job shows, and under which title": "note--title note--link",
    "a number, a size or an amount of money": """
        --attempt quota-set--batches --bytes --cores --cpu --days --gpu --gpus --last --limit
        --lines --load --losses --max-args --max-chars --max-lines --max-running
        --max-running-per-application --max-running-per-user --memory --number --port --priority
        --retries --rounds --scale --seed --slots --soft --storage --worker-cpu --worker-memory
        billing-project-limit-1 condition-release-1 licence-set-1 limit-set-0 quota-set--jobs
        user-weight-1 tenant-set--output-keep-bytes --log-max
        line-redeliver-1 line-decide-1 products-rm-0 db-views-add--connections
        transport-letters-show-0 transport-letters-resend-0 transport-letters-rm-0
        transport-letters-ack-0
        siege--broker siege--bucket siege--minutes siege--workers
        each--jobs bench--jobs billing-set-rates--machine -L -N -P -j -n -s""",
    "a time, a date or a duration": """
        param-diff-0 param-diff-1 answer--valid --log-keep
        --boot --deadline --delay --expires --from --not-before --retry-wait --since --timeout
        --until extend--by tenant-set--output-keep schedule-add-0 db-views-add--timeout-s""",
    "a text, a pattern or a query that a person writes": """
        --colsep each--delimiter --eof --find --grep --note --reason --replace -E -I -d
        token-create--workers
        line-set--message line-set-m line-test--item line-test--name line-test--product
        export-crate--licence
        jobs-1 message-1 query-save-1 ls--name --q -q billing-correct-rates-0""",
    "pairs of a name and a value": """
        --rate --attribute --resource
        --env --label --no-env --param answer--set submit--set resubmit-1 set-1 param-set-1""",
    "numbers or ranges of exit codes, and reasons": """
        --exit-codes --external-errors --retry-on --retry-with --halt""",
    "of one batch, whose number stands elsewhere on the line": """
        --cause callback-redeliver-1 jobs--group""",
    "a key that a program makes up": "--concurrency-key --key --unique",
    "an address outside weft": """
        --connect --database --endpoint --host --image --issuer worker--join worker-invite--url""",
    "of a tenant that is not known before the login": "login--tenant",
    "a zone of the machine's data of time zones": "--tz",
    "any attribute, beside a few words": "billing-report--by",
    "a long list that only the server has, of changes that may never have happened": "--action",
    "yes or no, as in a file of settings": "--detach-jobs",
}
"""Why Tab offers nothing for an option of all commands, one of a command, or an argument by its
place.
"""


def kinds() -> Iterator[tuple[str, str, object]]:
    """Yield each value of a command: with its command, by itself, and its kind."""
    for path, command in read_commands().items():
        name = path.replace(" ", "-")
        for place, kind in enumerate(command["arguments"]):
            yield f"{name}-{place}", f"{name}-{place}", kind
        for option, (_, kind) in command["options"].items():
            yield f"{name}{option}", option, kind


def test_what_tab_does_not_know_has_a_reason() -> None:
    """A new option or argument completes live, has choices, is a path, or is free for a reason."""
    free = {name: why for why, names in FREE.items() for name in names.split()}
    unknown = {full: option for full, option, kind in kinds() if kind == ANY}
    without = [full for full, option in unknown.items() if not {full, option} & free.keys()]
    used = {name for pair in unknown.items() for name in pair}

    assert without == []
    assert free.keys() - used == set()


def test_every_kind_of_word_is_asked_for_and_known() -> None:
    found = {kind for _, _, kind in kinds() if isinstance(kind, str)}

    assert found - {ANY, COMMAND, FILES, ""} == {*ASKS}


def test_options_are_explained() -> None:
    """Shells such as zsh and fish show a sentence beside each."""
    silent = [
        f"{path} {option}"
        for path, command in read_commands().items()
        for option, (sentence, _) in command["options"].items()
        if not sentence
    ]

    assert silent == []
