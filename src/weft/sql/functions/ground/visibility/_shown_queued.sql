-- _shown_queued: how many jobs wait for the transport of a condition in batches that the caller of this
--   transaction sees; 0: it has none.
-- Plan: batches of the condition by index, at most 1,000.
-- Owner: weft_tenant.
CREATE OR REPLACE FUNCTION weft._shown_queued(of_condition_id bigint) RETURNS bigint LANGUAGE sql STABLE AS $$
    SELECT coalesce(sum(b.n_waiting), 0)
    FROM (
        SELECT x.*
        FROM weft.condition_batch x
        WHERE x.condition_id = of_condition_id AND x.n_waiting > 0
        OFFSET 0
    ) b
    WHERE weft._caller_id() IS NULL OR weft._permission(b.batch_id, b.owner_id, b.project_id) > 0
$$;
