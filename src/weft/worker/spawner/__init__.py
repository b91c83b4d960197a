"""The spawner: the one place that starts processes.

It starts, watches and kills job processes, keeps their output, and keeps what became of them until
the agent acknowledges it. It serves one agent at a time, the newest, and goes on when none is
there. It decides nothing: no store, no settings, no executor; it knows `core`, `wire`,
`private_files` and the standard library only, so that it stays small – a child's peak memory as
the kernel reports it is at least its parent's – and rarely has to be replaced.
"""
