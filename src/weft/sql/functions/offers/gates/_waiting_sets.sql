-- _waiting_sets: the gate sets at which jobs wait.
-- Plan: from one set to the next by the order of both indexes. Set 1 holds parked jobs, which wait for no
--   gate.
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._waiting_sets() RETURNS SETOF int LANGUAGE sql STABLE AS $$
    WITH RECURSIVE listed AS (
        (SELECT q.gate_set_id FROM weft.ready_job q WHERE q.gate_set_id > 1 ORDER BY q.gate_set_id LIMIT 1)
            UNION ALL SELECT n.* FROM listed l CROSS JOIN LATERAL (
                SELECT q.gate_set_id
                FROM weft.ready_job q
                WHERE q.gate_set_id > l.gate_set_id
                ORDER BY q.gate_set_id
                LIMIT 1
            ) n
    ),
    ranged AS (
        (SELECT r.gate_set_id FROM weft.runnable r WHERE r.gate_set_id > 1 ORDER BY r.gate_set_id LIMIT 1)
            UNION ALL SELECT n.* FROM ranged l CROSS JOIN LATERAL (
                SELECT r.gate_set_id
                FROM weft.runnable r
                WHERE r.gate_set_id > l.gate_set_id
                ORDER BY r.gate_set_id
                LIMIT 1
            ) n
    )
    SELECT l.gate_set_id
    FROM listed l
    UNION
    SELECT r.gate_set_id
    FROM ranged r
$$;
