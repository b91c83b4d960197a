-- _release_jobs: make blocked jobs ready. Those that were cancelled meanwhile, and those whose queue was
--   closed, end instead.
-- Safe to repeat: no.
-- For: release_blocked, release_conditions, which have locked the jobs.
-- Locks: job (by the caller); as _may_open_span; as _count_failures; as _refuse_return; as _add_ranges; as
--   _list_ready.
-- Plan: jobs by key.
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._release_jobs(
    batch_ids bigint[],
    job_ids int[],
    at timestamptz,
    actor text DEFAULT 'weft',
    subtype text DEFAULT 'waited'
) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    v_states smallint[];
    v_unreturned boolean;
    v_span record;
BEGIN
    SELECT
        coalesce(array_agg(s.b), '{}') AS batches,
        array_agg(s.update_id) AS updates,
        array_agg(s.lane_id) AS lanes,
        array_agg(s.first_job) AS firsts,
        array_agg(s.last_job) AS lasts
    INTO v_span
    FROM (
        SELECT
            t.b,
            min(j.update_id) AS update_id,
            min(j.lane_id) AS lane_id,
            min(t.j) AS first_job,
            max(t.j) AS last_job,
            count(*) AS n
        FROM unnest(_release_jobs.batch_ids, _release_jobs.job_ids) t (b, j)
        CROSS JOIN LATERAL (SELECT y.* FROM weft.job y WHERE y.batch_id = t.b AND y.job_id = t.j OFFSET 0) j
        GROUP BY t.b
        HAVING count(*) >= 100
            AND min(j.update_id) = max(j.update_id)
            AND min(j.lane_id) = max(j.lane_id)
            AND bool_and(j.priority = 0 AND j.gate_set_id IS NULL AND NOT j.always_run)
    ) s
    WHERE weft._may_open_span(s.b, s.first_job, s.last_job, s.n)
        -- One that was cancelled is among the listed ones, which are looked at.
        AND NOT EXISTS (SELECT FROM weft.job_cancel c WHERE c.batch_id = s.b)
        -- A report with the last failure that is allowed holds the counter, and waits for the lock of the
        -- batch that a range needs.
        AND NOT EXISTS (SELECT FROM weft.failure_count f WHERE f.batch_id = s.b);
    WITH gone AS (
        DELETE FROM weft.blocked_job k
        USING unnest(_release_jobs.batch_ids, _release_jobs.job_ids) t (b, j)
        WHERE k.batch_id = t.b AND k.job_id = t.j
        RETURNING k.condition_id, k.tenant_id
    )
    INSERT INTO weft.condition_delta (condition_id, tenant_id, n)
    SELECT g.condition_id, g.tenant_id, -count(*)
    FROM gone g
    WHERE g.condition_id IS NOT NULL
    GROUP BY g.condition_id, g.tenant_id;
    WITH upd AS (
        UPDATE weft.job j
        SET state = STATE_READY, listed = t.b <> ALL (v_span.batches)
        FROM unnest(_release_jobs.batch_ids, _release_jobs.job_ids) t (b, j)
        WHERE j.batch_id = t.b AND j.job_id = t.j
        RETURNING j.batch_id, j.job_id, j.tenant_id, j.group_id, j.shape_id, j.attempt
    ),
    del AS (
        INSERT INTO weft.job_delta (tenant_id, batch_id, group_id, shape_id, pool_id, n_blocked, n_ready)
        SELECT
            u.tenant_id,
            u.batch_id,
            u.group_id,
            u.shape_id,
            weft._shape_pool(u.shape_id, q.pool_id),
            -u.n,
            u.n
        FROM (SELECT tenant_id, batch_id, group_id, shape_id, count(*) AS n FROM upd GROUP BY 1, 2, 3, 4) u
        JOIN weft.batch b ON b.batch_id = u.batch_id
        JOIN weft.queue q ON q.queue_id = b.queue_id
    ),
    change AS (
        INSERT INTO weft.job_change (
            batch_id, job_id, tenant_id, at, from_state, to_state, attempt, actor, subtype
        )
        SELECT
            u.batch_id, u.job_id, u.tenant_id, _release_jobs.at, STATE_BLOCKED, STATE_READY, u.attempt,
            _release_jobs.actor, _release_jobs.subtype
        FROM upd u
    ),
    event AS (
        INSERT INTO weft.event (at, tenant_id, batch_id, kind, from_state, to_state, jobs)
        SELECT
            _release_jobs.at,
            u.tenant_id,
            u.batch_id,
            'jobs.ready',
            STATE_BLOCKED,
            STATE_READY,
            array_agg(u.job_id)
        FROM upd u
        GROUP BY u.tenant_id, u.batch_id
    )
    SELECT bool_or(weft._takes_none_back(s.tenant_id, s.shape_id))
    INTO v_unreturned
    FROM (SELECT DISTINCT u.tenant_id, u.shape_id FROM upd u) s;
    v_states := array_fill(STATE_READY::smallint, ARRAY[cardinality(_release_jobs.job_ids)]);
    IF v_unreturned THEN
        v_states := weft._find_unreturned(_release_jobs.batch_ids, _release_jobs.job_ids, v_states);
        PERFORM weft._count_failures(
            _release_jobs.batch_ids, _release_jobs.job_ids, v_states, _release_jobs.at
        );
        PERFORM weft._refuse_return(
            _release_jobs.batch_ids, _release_jobs.job_ids, v_states, _release_jobs.at
        );
    END IF;
    IF v_span.batches <> '{}' THEN
        PERFORM weft._add_ranges(v_span.batches, v_span.updates, v_span.lanes, v_span.firsts, v_span.lasts);
        SELECT array_agg(t.b), array_agg(t.j), array_agg(t.s)
        INTO batch_ids, job_ids, v_states
        FROM unnest(_release_jobs.batch_ids, _release_jobs.job_ids, v_states) t (b, j, s)
        WHERE t.b <> ALL (v_span.batches);
    END IF;
    IF batch_ids IS NOT NULL THEN
        PERFORM weft._list_ready(batch_ids, job_ids, v_states, _release_jobs.at);
    END IF;
END $$;
