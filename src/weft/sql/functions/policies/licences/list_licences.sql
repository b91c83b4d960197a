-- list_licences: the licences by name: how many there are, and how many jobs have that run or may be claimed.
-- Plan: all licences, which are few; places by gate.
-- Owner: weft_system.
-- Granted to: weft_api.
CREATE OR REPLACE FUNCTION weft.list_licences() RETURNS SETOF jsonb LANGUAGE sql STABLE AS $$
    SELECT jsonb_build_object(
        'licence', l.name,
        'n', l.n,
        'n_used', (
            SELECT coalesce(sum(p.cost), 0)
            FROM weft._named_gates('licence', NULL, l.name) g
            JOIN weft.place p
            USING (gate_id)
        ),
        'set_at', l.set_at,
        'set_by', l.set_by
    )
    FROM weft.licence l
    ORDER BY l.name
$$;
