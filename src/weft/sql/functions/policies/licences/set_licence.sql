-- set_licence: say how many jobs may use a licence at a time, in all pools together.
-- Safe to repeat: yes.
-- Locks: licence; as _tell_limits. Nobody waits for the gate here: a note tells it.
-- Owner: weft_system.
-- Granted to: weft_api.
CREATE OR REPLACE FUNCTION weft.set_licence(of_name text, count int, actor text) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO weft.licence AS l (name, n, set_by)
    VALUES (of_name, set_licence.count, actor)
    ON CONFLICT (name) DO UPDATE
    SET n = excluded.n, set_by = excluded.set_by, set_at = excluded.set_at
    WHERE l.n <> excluded.n;
    INSERT INTO weft.gate (kind, key, max_places, max_ever)
    SELECT k.kind, weft._gate_key(k.owner, NULL, NULL, of_name), set_licence.count, set_licence.count
    FROM weft._gate_kinds() k
    WHERE k.kind = 'licence'
    ON CONFLICT (kind, key) DO NOTHING;
    PERFORM weft._tell_limits(ARRAY[g.gate_id], ARRAY[set_licence.count])
    FROM weft._named_gates('licence', NULL, of_name) g;
END $$;
