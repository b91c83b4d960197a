-- _count_notes: delete these gates' notes, subtract the places that they say were given back, and set the
--   limit that the last one names.
-- For: _pass_gates, _give_back, after they have locked the gates: in this statement, which sees the changes
--   of the previous holder.
-- Safe to repeat: yes.
-- Locks: gate (by the caller).
-- Plan: notes and gates by key.
-- A note with the limit -1 removes it.
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._count_notes(of_gate_ids int[]) RETURNS void LANGUAGE sql AS $$
    WITH gone AS (
        DELETE FROM weft.gate_note n
        WHERE n.gate_id = ANY (of_gate_ids)
        RETURNING n.note_id, n.gate_id, n.n_freed, n.max_places
    )
    UPDATE weft.gate g
    SET
        n_taken = g.n_taken - s.n_freed,
        max_places = nullif(coalesce(s.max_places, g.max_places), -1),
        max_ever = CASE
            WHEN s.max_places < 0 OR g.max_ever IS NULL THEN NULL
            ELSE greatest(g.max_ever, s.max_places)
        END,
        limited_at = CASE WHEN s.max_places IS NULL THEN g.limited_at ELSE clock_timestamp() END
    FROM (
        SELECT
            x.gate_id,
            sum(x.n_freed)::int AS n_freed,
            (array_agg(x.max_places ORDER BY x.note_id DESC) FILTER (WHERE x.max_places IS NOT NULL))[1] AS
                max_places
        FROM gone x
        GROUP BY 1
    ) s
    WHERE g.gate_id = s.gate_id AND (s.n_freed > 0 OR s.max_places IS NOT NULL)
$$;
