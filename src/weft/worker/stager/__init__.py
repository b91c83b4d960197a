"""The files of attempts: brought into their directories before they start, kept when they ended.

It opens no path that a job could have changed but by `wire/walking.py`, and knows neither the
store of jobs nor the runner: `worker/agent/job_files.py` calls it.
"""
