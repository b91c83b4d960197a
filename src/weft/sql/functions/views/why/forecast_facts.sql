-- forecast_facts: what a forecast of a job, or, as job 0, of a batch is made of: how long its own jobs and
--   like ones took, how long running ones have run, what stands before it in its pool, and prices.
-- Safe to repeat: yes, it only reads.
-- Raises WF101, WF102.
-- Plan: the last 1000 jobs up to the newest that has ended, and 200 after it, by key; as _like_attempts,
--   _pool_facts, _pool_line.
-- Returns: NULL: the batch has no jobs; a list of seconds is empty if there are none; `price`: of an hour of
--   a job.
-- Owner: weft_tenant.
-- Granted to: weft_api.
CREATE OR REPLACE FUNCTION weft.forecast_facts(tenant_id int, batch_id bigint, job_id int) RETURNS jsonb
LANGUAGE plpgsql PLAN_BY_INDEX PLAN_ONCE AS $$
DECLARE
    v_batch weft.batch;
    v_job weft.job;
    v_newest int;
    v_pool int;
    v_now timestamptz := clock_timestamp();
BEGIN
    IF forecast_facts.job_id > 0 THEN
        PERFORM weft._check_job(forecast_facts.batch_id, forecast_facts.job_id);
    ELSE
        PERFORM weft._check_batch(forecast_facts.batch_id);
    END IF;
    SELECT b.* INTO v_batch FROM weft.batch b WHERE b.batch_id = forecast_facts.batch_id;
    SELECT coalesce(max(a.job_id), 0) INTO v_newest FROM weft.attempt a WHERE a.batch_id = v_batch.batch_id;
    SELECT j.*
    INTO v_job
    FROM weft.job j
    WHERE j.batch_id = v_batch.batch_id
        AND j.job_id = coalesce(nullif(forecast_facts.job_id, 0), least(v_newest + 1, v_batch.next_job - 1));
    SELECT weft._lane_pool(v_job.lane_id, q.pool_id)
    INTO v_pool
    FROM weft.queue q
    WHERE q.queue_id = v_batch.queue_id;
    RETURN (
        WITH near AS MATERIALIZED (
            SELECT j.*
            FROM weft.job j
            WHERE j.batch_id = v_batch.batch_id
                AND j.job_id BETWEEN v_newest - 999 AND v_newest + 200
                AND (forecast_facts.job_id = 0 OR j.shape_id = v_job.shape_id)
        ),
        ended AS (
            SELECT date_part('epoch', a.ended_at - a.started_at) AS seconds
            FROM near n
            CROSS JOIN LATERAL (
                SELECT x.*
                FROM weft.attempt x
                WHERE x.batch_id = n.batch_id
                    AND x.job_id = n.job_id
                    AND x.started_at IS NOT NULL
                    AND x.state IN (STATE_SUCCESS, STATE_FAILED)
                OFFSET 0
            ) a
        )
        SELECT CASE
            WHEN forecast_facts.job_id > 0
                THEN jsonb_build_object(
                    'n_waiting', (v_job.state IN (STATE_READY, STATE_QUEUED, STATE_CREATING))::int,
                    'n_running', (v_job.state = STATE_RUNNING)::int,
                    'elapsed', CASE
                        WHEN v_job.started_at IS NULL THEN '[]'
                        ELSE jsonb_build_array(date_part('epoch', v_now - v_job.started_at))
                    END
                )
            ELSE (
                SELECT jsonb_build_object(
                    'n_waiting', c.n_ready + c.n_queued + c.n_creating,
                    'n_running', c.n_running,
                    'elapsed', r.seconds
                )
                FROM weft._group_counts(ARRAY[v_batch.batch_id], ARRAY[0]) c
            )
        END || weft._pool_line(v_pool, v_batch.user_id) || jsonb_build_object(
            'own', (SELECT coalesce(jsonb_agg(e.seconds), '[]') FROM ended e),
            'running', r.seconds,
            'like', weft._like_attempts(v_batch, v_job.shape_id),
            'cpu_m', v_job.cpu_m,
            'max_running', v_batch.max_running,
            'pool', weft._pool_facts(v_pool, v_job.lane_id, v_job.cpu_m, v_job.memory_mib, v_batch.user_id),
            'before', (
                SELECT coalesce(sum(c.ready_m), 0)::double precision / v_job.cpu_m
                FROM weft.user_batch_count c
                WHERE c.pool_id = v_pool AND c.user_id = v_batch.user_id AND c.batch_id < v_batch.batch_id
            ) + (
                SELECT count(*)
                FROM (
                    SELECT
                    FROM weft.ready_job q
                    WHERE q.batch_id = v_batch.batch_id AND q.job_id < forecast_facts.job_id
                    LIMIT 1000
                ) x
            ) + (
                SELECT coalesce(sum(least(q.last_job, forecast_facts.job_id) - q.low_job), 0)
                FROM weft.runnable q
                WHERE q.batch_id = v_batch.batch_id AND q.low_job < forecast_facts.job_id
            ),
            'price', (
                SELECT p.price
                FROM weft._prices(
                    (
                        SELECT c.rate_card_id
                        FROM weft.rate_card c
                        WHERE c.valid_from <= v_now
                        ORDER BY c.valid_from DESC
                        LIMIT 1
                    ),
                    v_job.shape_id
                ) p
            ),
            'cost', CASE
                WHEN forecast_facts.job_id = 0
                    THEN (SELECT c.cost FROM weft._group_costs(ARRAY[v_batch.batch_id], ARRAY[0]) c)
                ELSE (SELECT coalesce(sum(a.cost), 0) FROM weft._attempts(v_batch.batch_id, v_job.job_id) a)
            END
        )
        FROM (
            SELECT coalesce(jsonb_agg(date_part('epoch', v_now - n.started_at)), '[]') AS seconds
            FROM near n
            WHERE n.state = STATE_RUNNING AND n.started_at IS NOT NULL
        ) r
        WHERE v_job.job_id IS NOT NULL
    );
END $$;
