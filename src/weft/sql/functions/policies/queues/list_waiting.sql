-- list_waiting: jobs of a tenant that wait and have never run, after this one, with what guards read; those
--   of one batch at a time.
-- Safe to repeat: yes, it only reads.
-- Plan: as _next_open_batch; jobs by key, at most 10,000 numbers; the rest by key.
-- Returns: the batch, the number of the last job that was looked at, and documents of the jobs; nothing after
--   the last batch.
-- Owner: weft_tenant.
-- Granted to: weft_api.
CREATE OR REPLACE FUNCTION weft.list_waiting(tenant_id int, after_batch bigint, after_job int, limit_jobs int)
RETURNS TABLE (batch_id bigint, last_job int, jobs jsonb) LANGUAGE plpgsql PLAN_BY_INDEX AS $$
DECLARE
    v_batch bigint;
    v_last int;
    v_from int := after_job;
BEGIN
    v_batch := weft._next_open_batch(list_waiting.tenant_id, after_batch);
    SELECT b.next_job - 1 INTO v_last FROM weft.batch b WHERE b.batch_id = v_batch;
    IF v_batch > after_batch THEN
        v_from := 0;
    ELSIF after_job >= v_last THEN
        v_from := 0;
        v_batch := weft._next_open_batch(list_waiting.tenant_id, after_batch + 1);
        SELECT b.next_job - 1 INTO v_last FROM weft.batch b WHERE b.batch_id = v_batch;
    END IF;
    IF v_batch IS NULL THEN
        RETURN;
    END IF;
    v_last := least(v_last, v_from::bigint + 10000);
    RETURN QUERY
    WITH found AS MATERIALIZED (
        SELECT j.*
        FROM weft.job j
        WHERE j.batch_id = v_batch
            AND j.job_id > v_from
            AND j.job_id <= v_last
            AND j.state IN (STATE_PENDING, STATE_READY, STATE_QUEUED)
            AND j.attempt = 0
            AND NOT j.staged
            AND (
                SELECT u.committed_at IS NOT NULL
                FROM weft.batch_update u
                WHERE u.batch_id = j.batch_id AND u.update_id = j.update_id
            )
        ORDER BY j.job_id
        LIMIT limit_jobs
    )
    SELECT
        v_batch,
        CASE WHEN count(*) = limit_jobs THEN max(j.job_id) ELSE v_last END,
        coalesce(
            jsonb_agg(
                jsonb_build_object(
                    'job_id', j.job_id, 'spec_first', j.spec_first, 'priority', j.priority,
                    'always_run', j.always_run, 'max_attempts', j.max_attempts, 'cpu_m', h.cpu_m,
                    'memory_mib', h.memory_mib, 'storage_mib', h.storage_mib, 'gpu', h.gpu,
                    'asked', h.countables, 'n_jobs', r.n_jobs,
                    'name', coalesce(l.name, r.name),
                    'attributes', coalesce(l.attributes, r.attributes),
                    'named', coalesce(coalesce(l.rare_fields, r.rare_fields) ? 'queue', false)
                ) ORDER BY j.job_id
            ),
            '[]'
        )
    FROM found j
    JOIN weft.shape h ON h.shape_id = j.shape_id
    LEFT JOIN weft.job_label l ON l.batch_id = j.batch_id AND l.job_id = j.job_id
    LEFT JOIN weft.job_array r ON r.batch_id = j.batch_id AND r.first_job = j.spec_first;
END $$;
