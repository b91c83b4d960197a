-- bare_insert: the rows of an array of $1 jobs, in the table of bare_array.
INSERT INTO bare.job (
    batch_id, job_id, tenant_id, update_id, group_id, shape_id, cpu_m, memory_mib, asks_more, spec_first,
    state, n_unfinished, listed, staged, bad_parent, always_run, priority, max_attempts, retry_on
)
SELECT 1, n, 1, 1, 0, 1, 1000, 512, false, 1, 1, 0, false, false, false, false, 0, 1, 62
FROM generate_series(1, $1::int) n
