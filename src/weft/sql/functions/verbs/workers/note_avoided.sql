-- note_avoided: record which nodes of its engine a gateway avoids now, for how long and why, instead of the
--   earlier ones.
-- Safe to repeat: yes.
-- Locks: incarnation (its row).
-- Plan: by key.
-- Owner: weft_system.
-- Granted to: weft_worker.
CREATE OR REPLACE FUNCTION weft.note_avoided(
    incarnation_id int,
    nodes text[],
    seconds double precision[],
    reasons text[],
    at timestamptz DEFAULT clock_timestamp()
) RETURNS void LANGUAGE sql AS $$
    UPDATE weft.worker_incarnation i
    SET avoided = (
        SELECT jsonb_agg(
            jsonb_build_object(
                'node', left(n.node, 100),
                'until', at + least(n.s, 86400) * interval '1 second',
                'reason', left(n.reason, 500)
            ) ORDER BY n.node
        )
        FROM unnest(nodes[1:100], seconds[1:100], reasons[1:100]) n (node, s, reason)
    )
    WHERE i.incarnation_id = note_avoided.incarnation_id AND i.ended_at IS NULL
$$;
