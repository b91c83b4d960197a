-- Each gate counts its places, and its notes count those given back or to come back; it grants no more places
--   than its limit.
-- After a limit was lowered, running jobs keep their places, and no other job gets one.
SELECT x.batch_id, x.gate_id, x.kind, x.key, x.max_places, x.n_taken, x.n_places, x.n_noted
FROM (
    SELECT
        g.*,
        (SELECT coalesce(sum(p.cost), 0) FROM weft.place p WHERE p.gate_id = g.gate_id) AS n_places,
        (SELECT coalesce(sum(n.n_freed), 0) FROM weft.gate_note n WHERE n.gate_id = g.gate_id)
            + (SELECT coalesce(sum(r.n), 0) FROM weft.gate_return r WHERE r.gate_id = g.gate_id) AS n_noted
    FROM weft.gate g
) x
WHERE x.n_taken <> x.n_places + x.n_noted
    OR x.n_places > x.max_places
        AND EXISTS (SELECT FROM weft.place p WHERE p.gate_id = x.gate_id AND p.admitted_at > x.limited_at)
