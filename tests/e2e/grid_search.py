"""A grid search as a data scientist writes it. It runs in the environment of
`tools/environment.sh joblib`; standard output is what it found, as JSON.
"""

import json
import os
import shutil
import sys

import joblib
from sklearn.datasets import load_digits
from sklearn.model_selection import GridSearchCV
from sklearn.svm import SVC

from weft_joblib import register


def fail(number: int) -> int:
    if number == 3:
        raise LookupError("three")
    return number


def where(number: int) -> tuple[int, str | None, str | None]:
    inner = joblib.Parallel(n_jobs=4)(joblib.delayed(os.getpid)() for _ in range(2))
    same = inner == [os.getpid()] * 2
    return (
        number * number if same else -1,
        os.environ.get("WEFT_BATCH"),
        os.environ.get("OMP_NUM_THREADS"),
    )


def place(_: int) -> tuple[str | None, str | None, str | None, str]:
    """Return what a call has of the program."""
    with open("data.csv") as file:
        return os.environ.get("MYVAR"), os.environ.get("HOME"), shutil.which("mytool"), file.read()


def main() -> None:
    register()
    raised = None
    images, digits = load_digits(return_X_y=True)
    search = GridSearchCV(SVC(), {"C": [0.1, 1, 10], "gamma": [0.001, 0.01]}, cv=2, n_jobs=-1)
    scores = {}
    for backend in ("weft", "sequential"):
        with joblib.parallel_config(backend):
            search.fit(images[:400], digits[:400])
        scores[backend] = search.cv_results_["mean_test_score"].tolist()
    with joblib.parallel_config("weft", n_jobs=2, inner_max_num_threads=3, name="calls"):
        seen = joblib.Parallel()(joblib.delayed(where)(number) for number in range(30))
        streamed = joblib.Parallel(return_as="generator")(
            joblib.delayed(abs)(number) for number in range(-3, 0)
        )
        absolute = list(streamed)
        try:
            joblib.Parallel()(joblib.delayed(fail)(number) for number in range(6))
        except LookupError as error:
            raised = str(error)
        again = joblib.Parallel()(joblib.delayed(fail)(number) for number in range(3))
    places = {}
    for backend in ("weft", "loky"):
        with joblib.parallel_config(backend, n_jobs=2):
            places[backend] = joblib.Parallel()(joblib.delayed(place)(n) for n in range(2))
    answers = {
        "places": places,
        "scores": scores,
        "seen": seen,
        "absolute": absolute,
        "again": again,
    }
    sys.stdout.write(json.dumps({**answers, "raised": raised}))


if __name__ == "__main__":
    main()
