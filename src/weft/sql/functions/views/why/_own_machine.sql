-- _own_machine: the machine of its own that a job waits for, since when, and the median time that the last
--   ones of its flavour took.
-- Plan: machine_job_idx; as in _growth, 20 machines of the flavour.
-- Returns: NULL: the job waits for none.
-- Owner: weft_system.
-- Granted to: weft_tenant.
CREATE OR REPLACE FUNCTION weft._own_machine(of_batch_id bigint, of_job_id int) RETURNS jsonb
LANGUAGE sql STABLE SECURITY DEFINER AS $$
    SELECT jsonb_build_object(
        'machine', m.name,
        'since', m.created_at,
        'usual_s', (
            SELECT percentile_cont(0.5) WITHIN
            GROUP (ORDER BY date_part('epoch', h.came_at - h.created_at))
            FROM (
                SELECT o.came_at, o.created_at
                FROM weft.machine o
                WHERE o.pool_id = m.pool_id AND o.flavour = m.flavour AND o.came_at IS NOT NULL
                ORDER BY o.machine_id DESC
                LIMIT 20
            ) h
        )
    )
    FROM weft.machine m
    WHERE m.for_batch_id = of_batch_id AND m.for_job_id = of_job_id AND m.released_at IS NULL
$$;
