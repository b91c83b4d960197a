-- _count_failures: count failures in groups with cancel_after_n_failures; the n-th cancels the group in the
--   same transaction.
-- For: _after_ends, _release_jobs, _release_machines, _count_errors, with all failures of a transaction at
--   once: two calls would lock counters in another order than that of their keys.
-- Safe to repeat: no; once per ended job.
-- Locks: as _add_failures.
-- Plan: jobs and ancestors by key.
-- Owner: weft_system.
-- Granted to: weft_tenant.
CREATE OR REPLACE FUNCTION weft._count_failures(
    batch_ids bigint[], job_ids int[], states smallint[], at timestamptz
) RETURNS void LANGUAGE sql VOLATILE AS $$
    SELECT weft._add_failures(
        array_agg(f.batch_id), array_agg(f.group_id), array_agg(f.n), _count_failures.at
    )
    FROM (
        SELECT a.batch_id, a.ancestor_id AS group_id, count(*)::int AS n
        FROM unnest(_count_failures.batch_ids, _count_failures.job_ids, _count_failures.states) t (b, j, s)
        JOIN weft.job j ON j.batch_id = t.b AND j.job_id = t.j
        JOIN weft.group_ancestor a ON a.batch_id = j.batch_id AND a.group_id = j.group_id
        WHERE t.s IN (7, 8)
        GROUP BY 1, 2
    ) f
$$;
