-- list_to_stop: which of these attempts must be stopped.
-- Plan: jobs, ancestors, cancels and preemptions by key.
-- Owner: weft_system.
-- Granted to: weft_worker.
CREATE OR REPLACE FUNCTION weft.list_to_stop(
    incarnation_id int, batch_ids bigint[], job_ids int[], attempts smallint[]
) RETURNS TABLE (batch_id bigint, job_id int, attempt smallint) LANGUAGE sql STABLE PLAN_ONCE AS $$
    SELECT t.b, t.j, t.a
    FROM unnest(list_to_stop.batch_ids, list_to_stop.job_ids, list_to_stop.attempts) t (b, j, a)
    CROSS JOIN LATERAL (SELECT y.* FROM weft.job y WHERE y.batch_id = t.b AND y.job_id = t.j OFFSET 0) j
    WHERE j.state <> STATE_RUNNING
        OR j.attempt <> t.a
        OR j.incarnation_id IS DISTINCT FROM list_to_stop.incarnation_id
        OR weft._is_cancelled(t.b, j.group_id, j.always_run)
        OR EXISTS (SELECT FROM weft.job_cancel c WHERE c.batch_id = t.b AND c.job_id = t.j)
        OR EXISTS (
            SELECT FROM weft.preemption p WHERE p.batch_id = t.b AND p.job_id = t.j AND p.attempt = t.a
        )
$$;
