-- get_bunch: the jobs of a bunch as they were sent, with absolute numbers; also before the update is
--   committed.
-- Safe to repeat: yes, it only reads.
-- Plan: by key.
-- Raises WF101, WF104.
-- Returns: one row per job in the order of their numbers; parents whose end is enough are negative, start, <
--   -10^9, share, > 10^9.
-- Owner: weft_tenant.
-- Granted to: weft_api.
CREATE OR REPLACE FUNCTION weft.get_bunch(
    tenant_id int, of_batch_id bigint, of_update_id int, first_position int, n_jobs int
) RETURNS TABLE (
    job_id int,
    cpu_m bigint,
    memory_mib bigint,
    storage_mib bigint,
    gpu int,
    group_id int,
    set_ids int[],
    priority smallint,
    always_run boolean,
    max_attempts smallint,
    retry_on int,
    name text,
    attributes jsonb,
    parents int[],
    spec_first int,
    rare_fields jsonb
) LANGUAGE plpgsql AS $$
DECLARE
    v_first int;
BEGIN
    SELECT u.first_job - 1 + first_position
    INTO STRICT v_first
    FROM weft.get_update(get_bunch.tenant_id, of_batch_id, of_update_id) u;
    RETURN QUERY
    SELECT
        j.job_id, s.cpu_m, s.memory_mib, s.storage_mib, s.gpu,
        coalesce(m.group_id, j.group_id),
        coalesce(m.set_ids, '{}'), j.priority, j.always_run, j.max_attempts, j.retry_on,
        coalesce(l.name, a.name),
        coalesce(l.attributes, a.attributes),
        (
            SELECT coalesce(
                array_agg(
                    CASE
                        WHEN e.need IS NULL THEN e.parent_id
                        WHEN e.need < 0 THEN 1000000000 + e.parent_id
                        WHEN e.need = NEED_END THEN -e.parent_id
                        ELSE -1000000000 - e.parent_id
                    END ORDER BY e.parent_id
                ),
                '{}'
            )
            FROM weft.edge e
            WHERE e.batch_id = j.batch_id AND e.child_id = j.job_id
        ),
        j.spec_first,
        coalesce(l.rare_fields - 'answer', a.rare_fields, '{}')
    FROM weft.job j
    JOIN weft.shape s
    USING (shape_id)
    LEFT JOIN weft.membership m ON m.batch_id = j.batch_id AND m.membership_id = j.group_id
    LEFT JOIN weft.job_label l ON l.batch_id = j.batch_id AND l.job_id = j.job_id
    LEFT JOIN weft.job_array a ON a.batch_id = j.batch_id AND a.first_job = j.spec_first
    WHERE j.batch_id = of_batch_id
        AND j.update_id = of_update_id
        AND j.job_id >= v_first
        AND j.job_id < v_first + get_bunch.n_jobs
    ORDER BY j.job_id;
END $$;
