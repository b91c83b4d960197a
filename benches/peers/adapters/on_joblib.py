"""joblib with loky: what submits runs the jobs, and nothing is kept."""

import jobs
from joblib import Parallel, delayed

pool = Parallel(n_jobs=jobs.AT_ONCE)


def send(kind, numbers):
    """Run all jobs."""
    pool(delayed(jobs.run)(kind, number) for number in numbers)


if __name__ == "__main__":
    jobs.main(send)
