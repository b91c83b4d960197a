"""What `weft retry` says."""

from cases import cases
from weft.cli.terminal.names import retried_words


@cases(
    ("n_jobs", "n_late", "told"),
    [
        (0, 0, "nothing to retry"),
        (1, 0, "1 job runs again"),
        (2000, 1, "2,000 jobs run again; 1 job left out: its deadline has passed"),
        (0, 2, "nothing to retry; 2 jobs left out: their deadlines have passed"),
    ],
)
def test_jobs_are_counted(n_jobs: int, n_late: int, told: str) -> None:
    assert retried_words(n_jobs, n_late) == told
