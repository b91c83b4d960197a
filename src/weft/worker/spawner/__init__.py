"""The spawner: the one place that starts processes.

It starts, watches and kills job processes, stores their output, and keeps their results until the
agent acknowledges them. It serves one agent at a time, the newest, and continues without one.
It decides nothing: it has no store, settings or executor. It uses only `core`, `wire`, `boottime`,
`private_files` and the standard library, so that it stays small – the kernel reports a child's
peak memory as at least its parent's – and rarely has to be replaced.
"""
