-- list_job_entries: what short lists show of a batch's committed jobs, in order of their numbers: of those
--   above `after`, or of these, which the caller has found to be committed.
-- Safe to repeat: yes, it only reads.
-- Plan: everything by key; two statements without aggregates, because they are short: planning or starting
--   more takes longer than they run. The jobs are read once, as rows: it is faster to carry them than to look
--   them up again.
-- Raises WF101.
-- Returns: less than their documents, in half the time. `name` is the attribute `name` if there is one: a
--   door's may be any text. `reason` is that of the attempt that ended a job; `duration_ms` is NULL unless
--   its last attempt has started. Costs by resource are NULL if none is asked for.
-- Owner: weft_tenant.
-- Granted to: weft_api.
CREATE OR REPLACE FUNCTION weft.list_job_entries(
    tenant_id int, batch_id bigint, after int, limit_rows int, of_job_ids int[]
) RETURNS TABLE (
    job_id int,
    group_id int,
    name text,
    state smallint,
    reason smallint,
    exit_code int,
    signal smallint,
    always_run boolean,
    ended_ms bigint,
    duration_ms bigint,
    cost float8,
    cpu_usage bigint,
    cpu_cost float8,
    memory_cost float8,
    storage_cost float8,
    gpu_cost float8
) LANGUAGE plpgsql PLAN_BY_KEY PLAN_ONCE AS $$
DECLARE
    v_jobs weft.job[];
BEGIN
    PERFORM weft._check_batch(list_job_entries.batch_id);
    IF of_job_ids IS NULL THEN
        v_jobs := ARRAY(
            SELECT j
            FROM weft.job j
            WHERE j.batch_id = list_job_entries.batch_id
                AND j.job_id > list_job_entries.after
                -- No join: it could begin with the update, and then all of its jobs would be read and sorted.
                AND (
                    SELECT u.committed_at IS NOT NULL
                    FROM weft.batch_update u
                    WHERE u.batch_id = j.batch_id AND u.update_id = j.update_id
                )
            ORDER BY j.job_id
            LIMIT limit_rows
        );
    ELSE
        v_jobs := ARRAY(
            SELECT (SELECT j FROM weft.job j WHERE j.batch_id = list_job_entries.batch_id AND j.job_id = t)
            FROM unnest(of_job_ids) t
        );
    END IF;
    RETURN QUERY
    SELECT
        j.job_id,
        CASE
            WHEN j.group_id >= 0 THEN j.group_id
            ELSE (
                SELECT x.group_id
                FROM weft.membership x
                WHERE x.batch_id = list_job_entries.batch_id AND x.membership_id = j.group_id
            )
        END,
        CASE
            WHEN l.job_id IS NULL THEN coalesce(r.attributes ->> 'name', r.name)
            ELSE coalesce(l.attributes ->> 'name', l.name)
        END,
        j.state,
        CASE WHEN j.state <> STATE_ERROR OR a.state = STATE_ERROR THEN a.reason END,
        a.exit_code,
        a.signal,
        j.always_run,
        -- Microseconds are exact in a float8, milliseconds are not.
        CASE
            WHEN j.state >= STATE_SUCCESS
                THEN (date_part('epoch', greatest(a.ended_at, j.cancelled_at)) * 1000000)::bigint / 1000
        END,
        CASE
            WHEN j.state = STATE_RUNNING THEN weft._ms_between(j.started_at, clock_timestamp())
            ELSE a.ms
        END,
        round(coalesce(m.ms * p.price, c.price_ms) / 3600000, 12)::float8,
        coalesce(m.ms * p.cpu_m, c.cpu_usage),
        round(coalesce(m.ms * p.of_cpu, c.of_cpu) / 3600000, 12)::float8,
        round(coalesce(m.ms * p.of_memory, c.of_memory) / 3600000, 12)::float8,
        round(coalesce(m.ms * p.of_storage, c.of_storage) / 3600000, 12)::float8,
        round(coalesce(m.ms * p.of_gpu, c.of_gpu) / 3600000, 12)::float8
    FROM unnest(v_jobs) j
    LEFT JOIN LATERAL (
        SELECT x.*, weft._ms_between(x.started_at, x.ended_at) AS ms
        FROM weft.attempt x
        WHERE x.batch_id = list_job_entries.batch_id
            AND x.job_id = j.job_id
            AND x.attempt = j.attempt
            AND j.state <> STATE_RUNNING
        OFFSET 0
    ) a ON true
    LEFT JOIN LATERAL (
        SELECT x.*
        FROM weft.job_label x
        WHERE x.batch_id = list_job_entries.batch_id AND x.job_id = j.job_id
        OFFSET 0
    ) l ON true
    LEFT JOIN LATERAL (
        SELECT x.*
        FROM weft.job_array x
        WHERE x.batch_id = list_job_entries.batch_id AND x.first_job = j.spec_first
        OFFSET 0
    ) r ON true
    -- of its only attempt, as nearly all have
    CROSS JOIN LATERAL (SELECT CASE WHEN j.attempt = 1 THEN a.ms END AS ms) m
    -- The same for all jobs of one shape: PostgreSQL remembers it.
    LEFT JOIN LATERAL (SELECT x.* FROM weft._prices(a.rate_card_id, a.shape_id) x OFFSET 0) p ON true
    LEFT JOIN weft._priced_jobs(
        list_job_entries.batch_id,
        ARRAY(SELECT x.job_id FROM unnest(v_jobs) x WHERE x.attempt > 1 OR x.state = STATE_RUNNING)
    ) c ON c.job_id = j.job_id;
END $$;
