-- _lane_ids: the lanes of these requests, in order. New lanes are added and assigned to every live worker
--   that can serve them.
-- Safe to repeat: yes.
-- Locks: lanes (only for a new lane, until the commit). A registering worker waits and sees the lane, or we
--   see the worker.
-- Owner: weft_system.
-- Granted to: weft_tenant.
CREATE OR REPLACE FUNCTION weft._lane_ids(asks jsonb[]) RETURNS int[] LANGUAGE plpgsql SECURITY DEFINER AS $$
DECLARE
    v_ids int[];
BEGIN
    FOR i IN 1..2 LOOP
        SELECT array_agg(l.lane_id ORDER BY t.n)
        INTO v_ids
        FROM unnest(_lane_ids.asks) WITH ORDINALITY t (asks, n)
        LEFT JOIN weft.lane l ON l.asks = t.asks;
        EXIT WHEN array_position(v_ids, NULL) IS NULL;
        PERFORM pg_advisory_xact_lock(7704, 0);
        WITH new AS (
            INSERT INTO weft.lane (asks, amounts, pool_id)
            SELECT DISTINCT
                t.asks,
                (
                    SELECT coalesce(jsonb_object_agg(a.key, a.value), '{}')
                    FROM jsonb_each(t.asks) a
                    WHERE jsonb_typeof(a.value) = 'number'
                ),
                (SELECT p.pool_id FROM weft.pool p WHERE p.name = t.asks ->> 'pool')
            FROM unnest(_lane_ids.asks) t (asks)
            ORDER BY 1
            ON CONFLICT DO NOTHING
            RETURNING lane_id, asks
        )
        INSERT INTO weft.worker_lane (incarnation_id, lane_id)
        SELECT i.incarnation_id, n.lane_id
        FROM new n
        CROSS JOIN weft.worker_incarnation i
        WHERE i.ended_at IS NULL AND weft._serves(weft._offers(i), n.asks);
    END LOOP;
    RETURN v_ids;
END $$;
