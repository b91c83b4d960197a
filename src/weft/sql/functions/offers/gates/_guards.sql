-- _guards: one row for each cancel and each switch (_switches) in a batch. If there is none, each of its jobs
--   may pass (_may_pass), which costs more to find out.
-- Plan: inlined; cancels and switches by key.
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._guards(of_batch_id bigint) RETURNS TABLE (batch_id bigint)
LANGUAGE sql STABLE AS $$
    SELECT c.batch_id
    FROM weft.group_cancel c
    WHERE c.batch_id = of_batch_id
    UNION ALL
    SELECT s.batch_id
    FROM weft._switches(of_batch_id) s
$$;
