"""The part of a job's document about the waits before its retries."""

from typing import Annotated

from msgspec import Meta, Struct

from weft.wire.description import END, says

PolicyName = Annotated[str, Meta(pattern="^[A-Za-z_][A-Za-z0-9_]{0,63}" + END)]
RetryOn = Annotated[
    tuple[str, ...] | None,
    says(
        "Reasons after which another attempt is made; without it `exit`, `signal`, "
        "`timeout`, `oom`, `disk` and `system`. Instead of `exit` and `signal`: "
        "`exit:3`, `exit:10-20`, `signal:USR1`. With `lost`, attempts that were lost or preempted "
        "count for `max_attempts`, too, instead of having a limit of their own.",
        ["oom", "exit:10-20"],
        ["lost"],
    ),
]
ExternalErrors = Annotated[
    tuple[int | str, ...] | None,
    says(
        "Exit codes, and ranges of them, that are external errors, as 75 always is: the job "
        "is tried again later, and the attempt does not count.",
        [66, "70-74"],
    ),
]

ExitCodes = Annotated[
    dict[str, str] | None,
    says(
        "What exit codes, and ranges of them, mean: `success`, or `success:` and a subtype that "
        "children and the history see.",
        {"200-207": "success: no product"},
    ),
]


class RetryStep(Struct, forbid_unknown_fields=True):
    """A number of tries with the same wait before each."""

    wait_s: Annotated[float, says("The wait before each of them.", 20, unit="seconds")]
    tries: Annotated[
        int | None, says("How many; without it, in the last step, without end.", 10)
    ] = None


class RetryDocument(Struct, forbid_unknown_fields=True):
    """How long a job waits before it is tried again."""

    policy: Annotated[
        PolicyName,
        says(
            "`constant`: always the same wait; `exponential`: it doubles; `stepwise`: as the "
            "steps say; or a policy of a package that is installed where the api runs.",
            "exponential",
        ),
    ]
    wait_s: Annotated[
        float | None, says("The wait if it is constant; without it 10.", 30, unit="seconds")
    ] = None
    first_s: Annotated[
        float | None,
        says("The first wait if it is exponential; without it 10.", 5, unit="seconds"),
    ] = None
    longest_s: Annotated[
        float | None,
        says("The longest wait if it is exponential; without it 300.", 600, unit="seconds"),
    ] = None
    steps: Annotated[
        tuple[RetryStep, ...] | None,
        says(
            "Without it 2 tries after 10 s, 10 after 20 s, 10 after 60 s, 100 after 120 s, then "
            "one every 300 s.",
            [{"tries": 3, "wait_s": 10}, {"wait_s": 60}],
        ),
    ] = None
    give_up_s: Annotated[
        float | None,
        says(
            "If it is stepwise: no try is made this long after the first failure; without it "
            "172800, two days.",
            3600,
            unit="seconds",
        ),
    ] = None
    jitter: Annotated[
        float | None,
        says("The part of each wait, from 0 to 1, of which a random share is left out.", 0.5),
    ] = None
    parameters: Annotated[
        dict[str, int | float | str] | None, says("What a policy of a package needs.")
    ] = None


Amount = int | float | str | None


class RetryWithDocument(Struct, forbid_unknown_fields=True, omit_defaults=True, frozen=True):
    """What another attempt asks for beyond the one before it: one field, after some ends."""

    on: Annotated[
        tuple[str, ...],
        says(
            "Ends of attempts after which it applies, written as in `retry_on`; also `lost` and "
            "`preempted`.",
            ["oom"],
        ),
    ]
    after: Annotated[int, says("How many of these ends it takes each time.", 2)] = 1
    cpu: Annotated[Amount, says("Cores, or a factor such as `x2`.", "x2", 4)] = None
    memory: Annotated[Amount, says("Memory, or a factor such as `x2`.", "x2", "8Gi")] = None
    storage: Annotated[Amount, says("Space on disk, or a factor.", "x2", "50Gi")] = None
    timeout: Annotated[
        Amount, says("The time limit: a duration such as `2h`, or a factor.", "x2", "2h")
    ] = None
    up_to: Annotated[Amount, says("The most that a factor leads to.", "16Gi")] = None
    preemptible: Annotated[bool | None, says("`false`: it is no longer preemptible.")] = None
    machine: Annotated[
        str | None, says("The flavour of a machine that is made for it alone.", "large")
    ] = None


RetryWith = Annotated[
    tuple[RetryWithDocument, ...] | None,
    says(
        "What retries ask for beyond what the job asks for; each rule names one field.",
        [{"on": ["oom"], "memory": "x2", "up_to": "16Gi"}],
    ),
]
