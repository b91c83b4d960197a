-- list_answers: the answers to parents of these attempts that waited for them and were approved.
-- Plan: batches by key, edges by child, labels by key.
-- Owner: weft_system.
-- Granted to: weft_worker.
-- Returns: one row per pair, in no fixed order; `name` is the parent's; of an answer that several of them
--   have, the first alone has it.
CREATE OR REPLACE FUNCTION weft.list_answers(batch_ids bigint[], job_ids int[], attempts smallint[])
RETURNS TABLE (batch_id bigint, job_id int, attempt smallint, parent_id int, name text, answer text)
LANGUAGE sql STABLE AS $$
    SELECT
        t.b,
        t.j,
        t.a,
        e.parent_id,
        l.name,
        CASE
            WHEN row_number() OVER (PARTITION BY t.b, e.parent_id ORDER BY t.j) = 1
                THEN l.rare_fields ->> 'answer'
        END
    FROM unnest(list_answers.batch_ids, list_answers.job_ids, list_answers.attempts) t (b, j, a)
    JOIN weft.batch b ON b.batch_id = t.b
        AND b.gated  -- what waits has a gate: others may have very many parents
    CROSS JOIN LATERAL (
        SELECT y.parent_id FROM weft.edge y WHERE y.batch_id = t.b AND y.child_id = t.j OFFSET 0
    ) e
    CROSS JOIN LATERAL (
        SELECT y.name, y.rare_fields
        FROM weft.job_label y
        WHERE y.batch_id = t.b AND y.job_id = e.parent_id AND y.rare_fields ? 'answer'
        OFFSET 0
    ) l
$$;
