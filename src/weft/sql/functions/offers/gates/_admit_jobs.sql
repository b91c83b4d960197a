-- _admit_jobs: give these waiting jobs of a user in a pool their places, and list them without gates, so that
--   claimers find them.
-- Safe to repeat: yes, jobs that no longer wait are skipped.
-- Locks: gate (by the caller); batch (shared, tried); job (SKIP LOCKED); ready_job (with the job); range
--   (SKIP LOCKED). A cancel or hold of the batch waits for us, or we see it. A transaction that changes a
--   ready_job row at a gate holds the job's row.
-- Plan: jobs by key, then by ctid; ready_job by batch and job.
-- ranges: the ranges that contain jobs that are not listed; their low marks move past admitted jobs.
-- Returns: how many were admitted.
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._admit_jobs(
    of_pool_id int,
    of_user_id int,
    gate_set_ids int[],
    batch_ids bigint[],
    job_ids int[],
    ranges bigint[],
    at timestamptz
) RETURNS int LANGUAGE plpgsql AS $$
DECLARE
    v_tid tid[];
    v_set int[];
    v_batch bigint[];
    v_job int[];
    v_range bigint[];
    v_n int;
    v_guarded bigint[];
BEGIN
    v_batch := ARRAY(
        SELECT b
        FROM (SELECT DISTINCT b FROM unnest(_admit_jobs.batch_ids) b OFFSET 0) d
        WHERE pg_try_advisory_xact_lock_shared(b)
    );
    v_guarded := ARRAY(SELECT b FROM unnest(v_batch) b WHERE EXISTS (SELECT FROM weft._guards(b)));
    SELECT array_agg(l.tid), array_agg(t.s), array_agg(t.b), array_agg(t.j), array_agg(t.r)
    INTO v_tid, v_set, v_batch, v_job, v_range
    FROM unnest(_admit_jobs.gate_set_ids, _admit_jobs.batch_ids, _admit_jobs.job_ids, _admit_jobs.ranges) t (
        s, b, j, r
    )
    CROSS JOIN LATERAL (
        SELECT y.ctid AS tid
        FROM weft.job y
        WHERE y.batch_id = t.b
            AND y.job_id = t.j
            AND y.state = STATE_READY
            AND y.listed = (t.r IS NULL)
            AND (t.b <> ALL (v_guarded) OR weft._may_pass(y.batch_id, y.group_id, y.job_id, y.always_run))
        FOR NO KEY UPDATE SKIP LOCKED
    ) l
    WHERE t.b = ANY (v_batch);
    IF v_tid IS NULL THEN
        RETURN 0;
    END IF;
    WITH listed AS (
        UPDATE weft.ready_job q
        SET gate_set_id = 0
        FROM unnest(v_set, v_batch, v_job, v_range) t (s, b, j, r)
        WHERE q.batch_id = t.b AND q.job_id = t.j AND q.gate_set_id = t.s AND t.r IS NULL
        RETURNING q.batch_id, q.job_id, q.tenant_id, t.s
    ),
    ranged AS (
        UPDATE weft.job j
        SET listed = true
        FROM unnest(v_tid, v_set, v_range) t (tid, s, r)
        WHERE j.ctid = t.tid AND t.r IS NOT NULL
        RETURNING j.batch_id, j.job_id, j.tenant_id, t.s, j.priority, j.lane_id
    ),
    ins AS (
        INSERT INTO weft.ready_job (gate_set_id, pool_id, user_id, rank, batch_id, job_id, tenant_id, lane_id)
        SELECT 0, of_pool_id, of_user_id, -r.priority, r.batch_id, r.job_id, r.tenant_id, r.lane_id
        FROM ranged r
    ),
    places AS (
        INSERT INTO weft.place (batch_id, job_id, gate_id, tenant_id, admitted_at, cost)
        SELECT p.batch_id, p.job_id, m.gate_id, p.tenant_id, _admit_jobs.at, m.cost
        FROM (
            SELECT l.batch_id, l.job_id, l.tenant_id, l.s
            FROM listed l
            UNION ALL
            SELECT r.batch_id, r.job_id, r.tenant_id, r.s
            FROM ranged r
        ) p
        JOIN weft.gate_member m ON m.gate_set_id = p.s
        RETURNING gate_id, cost
    ),
    taken AS (
        UPDATE weft.gate g
        SET n_taken = g.n_taken + c.n
        FROM (SELECT p.gate_id, sum(p.cost)::int AS n FROM places p GROUP BY 1) c
        WHERE g.gate_id = c.gate_id
    )
    SELECT (SELECT count(*) FROM listed) + (SELECT count(*) FROM ranged)
    INTO v_n;
    UPDATE weft.runnable r
    SET low_job = x.last_job + 1
    FROM (
        SELECT l.tid, t.last_job
        FROM (
            SELECT r, max(j) AS last_job FROM unnest(v_range, v_job) u (r, j) WHERE r IS NOT NULL GROUP BY r
        ) t
        CROSS JOIN LATERAL (
            SELECT y.ctid AS tid
            FROM weft.runnable y
            WHERE y.runnable_id = t.r
                AND NOT EXISTS (
                    SELECT
                    FROM weft.job j
                    WHERE j.batch_id = y.batch_id
                        AND j.job_id BETWEEN y.low_job AND t.last_job
                        AND j.state = STATE_READY
                        AND NOT j.listed
                        AND j.lane_id = y.lane_id
                )
            FOR NO KEY UPDATE SKIP LOCKED
        ) l
    ) x
    WHERE r.ctid = x.tid AND r.low_job <= x.last_job;
    RETURN v_n;
END $$;
