-- _waiting_heads: the sets, pools and users that have jobs waiting at these gate sets.
-- Plan: from one pool and user to the next by the order of both indexes; jobs in between are not read.
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._waiting_heads(of_gate_set_ids int[])
RETURNS TABLE (gate_set_id int, pool_id int, user_id int) LANGUAGE sql STABLE AS $$
    WITH RECURSIVE listed AS (
        SELECT h.*
        FROM unnest(of_gate_set_ids) s
        CROSS JOIN LATERAL (
            SELECT q.gate_set_id, q.pool_id, q.user_id
            FROM weft.ready_job q
            WHERE q.gate_set_id = s
            ORDER BY q.gate_set_id, q.pool_id, q.user_id
            LIMIT 1
        ) h
        UNION ALL
        SELECT n.*
        FROM listed l
        CROSS JOIN LATERAL (
            SELECT q.gate_set_id, q.pool_id, q.user_id
            FROM weft.ready_job q
            WHERE q.gate_set_id = l.gate_set_id AND (q.pool_id, q.user_id) > (l.pool_id, l.user_id)
            ORDER BY q.gate_set_id, q.pool_id, q.user_id
            LIMIT 1
        ) n
    ),
    ranged AS (
        SELECT h.*
        FROM unnest(of_gate_set_ids) s
        CROSS JOIN LATERAL (
            SELECT r.gate_set_id, r.pool_id, r.user_id
            FROM weft.runnable r
            WHERE r.gate_set_id = s
            ORDER BY r.gate_set_id, r.pool_id, r.user_id
            LIMIT 1
        ) h
        UNION ALL
        SELECT n.*
        FROM ranged l
        CROSS JOIN LATERAL (
            SELECT r.gate_set_id, r.pool_id, r.user_id
            FROM weft.runnable r
            WHERE r.gate_set_id = l.gate_set_id AND (r.pool_id, r.user_id) > (l.pool_id, l.user_id)
            ORDER BY r.gate_set_id, r.pool_id, r.user_id
            LIMIT 1
        ) n
    )
    SELECT l.*
    FROM listed l
    UNION
    SELECT r.*
    FROM ranged r
$$;
