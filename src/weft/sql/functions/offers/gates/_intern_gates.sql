-- _intern_gates: the gate sets of these lists of gates; gates and sets that are new are added. A gate that is
--   there stays as it is, unless its kind says that it gets this number of places now (`newest`): a note
--   tells it, so nobody waits for its row here.
-- Safe to repeat: yes.
-- Locks: none but its rows. Concurrent calls that add the same gate or set wait.
-- Plan: by kind and key; as _gate_set_id.
-- lists: each an array of objects with `kind` (_gate_kinds) and what is needed of `key`, `user_id`,
--   `max_places`, `opens_at`; `cost`: how many places a job takes, 1 if it is not said. A gate that is not
--   the batch's own stays when the batch is deleted.
-- Owner: weft_system.
-- Granted to: weft_tenant.
CREATE OR REPLACE FUNCTION weft._intern_gates(of_tenant_id int, of_batch_id bigint, lists jsonb[])
RETURNS int[] LANGUAGE plpgsql SECURITY DEFINER AS $$
DECLARE
    v_list int[];
    v_kind text[];
    v_key text[];
    v_batch bigint[];
    v_places int[];
    v_opens timestamptz[];
    v_newest boolean[];
    v_cost int[];
BEGIN
    SELECT
        array_agg(l.n),
        array_agg(g.kind),
        array_agg(CASE k.owner WHEN 'batch' THEN of_batch_id END),
        array_agg(g.max_places),
        array_agg(g.opens_at),
        array_agg(k.newest IS TRUE),
        array_agg(coalesce(g.cost, 1)),
        array_agg(weft._gate_key(k.owner, of_tenant_id, of_batch_id, g.key, g.user_id))
    INTO v_list, v_kind, v_batch, v_places, v_opens, v_newest, v_cost, v_key
    FROM unnest(lists) WITH ORDINALITY l (gates, n)
    CROSS JOIN LATERAL jsonb_to_recordset(l.gates) g (
        kind text, key text, user_id int, max_places int, opens_at timestamptz, cost int
    )
    LEFT JOIN weft._gate_kinds() k ON k.kind = g.kind;  -- a gate of no kind has no key, which raises
    INSERT INTO weft.gate (kind, key, batch_id, max_places, opens_at, max_ever)
    SELECT DISTINCT ON (t.kind, t.key) t.kind, t.key, t.batch, t.places, t.opens, t.places
    FROM unnest(v_kind, v_key, v_batch, v_places, v_opens) t (kind, key, batch, places, opens)
    WHERE NOT EXISTS (SELECT FROM weft.gate g WHERE g.kind = t.kind AND g.key = t.key)
    ORDER BY t.kind, t.key, t.places
    ON CONFLICT (kind, key) DO NOTHING;
    IF EXISTS (SELECT FROM unnest(v_opens) o WHERE o IS NOT NULL) THEN
        PERFORM pg_notify('driver', 'gates');  -- it may sleep until a later date
    END IF;
    IF true = ANY (v_newest) THEN
        PERFORM weft._tell_limits(array_agg(g.gate_id), array_agg(t.places))
        FROM (
            SELECT u.kind, u.key, min(u.places) AS places
            FROM unnest(v_kind, v_key, v_places, v_newest) u (kind, key, places, newest)
            WHERE u.newest
            GROUP BY 1, 2
        ) t
        JOIN weft.gate g ON g.kind = t.kind AND g.key = t.key;
    END IF;
    -- In a statement of its own, which sees gates that others have added.
    RETURN ARRAY(
        SELECT (
            SELECT weft._gate_set_id(array_agg(x.gate_id), array_agg(x.cost))
            FROM (
                SELECT g.gate_id, max(t.cost) AS cost
                FROM unnest(v_list, v_kind, v_key, v_cost) t (list, kind, key, cost)
                JOIN weft.gate g ON g.kind = t.kind AND g.key = t.key
                WHERE t.list = n
                GROUP BY 1
            ) x
        )
        FROM generate_series(1, cardinality(lists)) n
        ORDER BY n
    );
END $$;
