-- _before_offer: note those of these jobs that are ready and listed, but can no longer end by their deadline,
--   or need not run, for the driver, which ends them. Timeouts of jobs that wait for somebody begin.
-- Safe to repeat: yes.
-- Locks: job (by the caller); as _begin_waits; as _find_unchanged.
-- Plan: the first deadline of each batch by key; if there is one, jobs by key, and as _is_late.
-- Returns: their places in the arrays; NULL: none.
-- Owner: weft_system.
-- Granted to: weft_tenant.
CREATE OR REPLACE FUNCTION weft._before_offer(
    batch_ids bigint[], job_ids int[], states smallint[], at timestamptz
) RETURNS bigint[] LANGUAGE plpgsql AS $$
DECLARE
    v_late bigint[];
BEGIN
    IF NOT EXISTS (SELECT FROM unnest(batch_ids) x JOIN weft.job_deadline d ON d.batch_id = x) THEN
        RETURN NULL;
    END IF;
    PERFORM weft._begin_waits(t.b, array_agg(t.j), _before_offer.at)
    FROM unnest(batch_ids, job_ids, states) t (b, j, s)
    WHERE t.s = STATE_READY
    GROUP BY t.b;
    PERFORM weft._find_unchanged(t.b, array_agg(t.j))
    FROM unnest(batch_ids, job_ids, states) t (b, j, s)
    WHERE t.s = STATE_READY
    GROUP BY t.b;
    WITH late AS MATERIALIZED (
        SELECT t.n, t.b, t.j, j.tenant_id
        FROM unnest(batch_ids, job_ids, states) WITH ORDINALITY t (b, j, s, n)
        CROSS JOIN LATERAL (
            SELECT x.tenant_id, x.listed, x.attempt
            FROM weft.job x
            WHERE x.batch_id = t.b AND x.job_id = t.j
            OFFSET 0
        ) j
        WHERE t.s = STATE_READY
            AND j.listed
            AND (
                weft._is_late(t.b, t.j, _before_offer.at)
                    OR EXISTS (
                        SELECT
                        FROM weft.job_cache c
                        WHERE c.batch_id = t.b
                            AND c.job_id = t.j
                            AND c.from_batch IS NOT NULL
                            AND j.attempt = 0
                    )
            )
    ),
    noted AS (
        INSERT INTO weft.late_job (batch_id, job_id, tenant_id)
        SELECT l.b, l.j, l.tenant_id
        FROM late l
        ON CONFLICT DO NOTHING
    )
    SELECT array_agg(l.n)
    INTO v_late
    FROM late l;
    PERFORM pg_notify('driver', 'deadlines');
    RETURN v_late;
END $$;
