-- _join_conditions: let blocked jobs wait for what their attempts asked for; jobs that ask the same share a
--   condition.
-- Safe to repeat: yes, the second time nothing is asked.
-- For: _block_jobs, in the transaction that blocks them.
-- Locks: job (by the caller); condition (in the order of what they test).
-- Plan: requests, jobs, attempts and batches by key.
-- One at which jobs go on, and to which a job comes, is not over: nobody else goes before the date of that
--   job, and then few again.
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._join_conditions(batch_ids bigint[], job_ids int[], at timestamptz)
RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    WITH asked AS (
        DELETE FROM weft.block_request r
        USING unnest(_join_conditions.batch_ids, _join_conditions.job_ids) t (b, j)
        WHERE r.batch_id = t.b AND r.job_id = t.j
        RETURNING r.*
    ),
    due AS MATERIALIZED (
        SELECT
            r.batch_id, r.job_id, r.tenant_id, r.kind, r.tester, r.parameters,
            md5(r.tester || ' ' || r.parameters::text) AS digest,
            k.next_at,
            least(coalesce(weft._ms_between(a.started_at, a.ended_at), 0), 3600000)::int AS ran_ms
        FROM asked r
        JOIN weft.blocked_job k ON k.batch_id = r.batch_id AND k.job_id = r.job_id AND k.condition_id IS NULL
        JOIN weft.job j ON j.batch_id = r.batch_id AND j.job_id = r.job_id AND j.attempt = r.attempt
        JOIN weft.attempt a ON a.batch_id = r.batch_id
            AND a.job_id = r.job_id
            AND a.attempt = r.attempt
            AND a.reason = REASON_BLOCKED
    ),
    new AS (
        INSERT INTO weft.condition AS c (
            tenant_id, kind, tester, parameters, digest, since, next_test_at, found_out_ms
        )
        SELECT
            d.tenant_id,
            min(d.kind),
            d.tester,
            d.parameters,
            d.digest,
            _join_conditions.at,
            min(d.next_at),
            max(d.ran_ms)
        FROM due d
        GROUP BY d.tenant_id, d.digest, d.tester, d.parameters
        ORDER BY d.tenant_id, d.digest
        ON CONFLICT (tenant_id, digest) DO UPDATE
        SET
            next_test_at = CASE
                WHEN c.rising THEN excluded.next_test_at
                ELSE least(c.next_test_at, excluded.next_test_at)
            END,
            allowance = 10,
            n_going = CASE WHEN c.rising THEN 0 ELSE c.n_going END,
            rising = false,
            found_out_ms = greatest(c.found_out_ms, excluded.found_out_ms)
        RETURNING c.*, c.xmax = 0 AS is_new
    ),
    eve AS (
        INSERT INTO weft.event (at, tenant_id, batch_id, kind, detail)
        SELECT
            _join_conditions.at,
            n.tenant_id,
            0,
            'condition.opened',
            jsonb_build_object(
                'condition_id', n.condition_id,
                'condition', n.kind,
                'tester', n.tester,
                'parameters', n.parameters,
                'since', n.since,
                'next_test_at', n.next_test_at,
                'n_jobs', (
                    SELECT count(*) FROM due d WHERE d.tenant_id = n.tenant_id AND d.digest = n.digest
                ),
                'batches', (
                    SELECT jsonb_object_agg(b.batch_id, b.n)
                    FROM (  -- for _shown_detail
                        SELECT d.batch_id, count(*) AS n
                        FROM due d
                        WHERE d.tenant_id = n.tenant_id AND d.digest = n.digest
                        GROUP BY 1
                    ) b
                )
            )
        FROM new n
        WHERE n.is_new
    ),
    upd AS (
        UPDATE weft.blocked_job k
        SET condition_id = n.condition_id
        FROM due d
        JOIN new n ON n.tenant_id = d.tenant_id AND n.digest = d.digest
        WHERE k.batch_id = d.batch_id AND k.job_id = d.job_id
        RETURNING n.condition_id, n.tenant_id, k.batch_id
    ),
    noted AS (
        INSERT INTO weft.condition_batch (batch_id, condition_id, tenant_id, owner_id, project_id)
        SELECT u.batch_id, u.condition_id, u.tenant_id, b.user_id, b.project_id
        FROM (SELECT DISTINCT x.batch_id, x.condition_id, x.tenant_id FROM upd x) u
        CROSS JOIN LATERAL (
            SELECT y.user_id, y.project_id FROM weft.batch y WHERE y.batch_id = u.batch_id OFFSET 0
        ) b
        ON CONFLICT DO NOTHING
    )
    INSERT INTO weft.condition_delta (condition_id, tenant_id, n)
    SELECT u.condition_id, u.tenant_id, count(*)
    FROM upd u
    GROUP BY u.condition_id, u.tenant_id;
    IF FOUND THEN
        PERFORM pg_notify('driver', 'conditions');
    END IF;
END $$;
