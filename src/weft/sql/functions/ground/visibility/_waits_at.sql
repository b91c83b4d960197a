-- _waits_at: whether a job of a batch waits at a condition that notes the batch.
-- Plan: blocked jobs of the batch by key, until there is one.
-- Owner: weft_tenant.
-- Granted to: weft_system.
CREATE OR REPLACE FUNCTION weft._waits_at(of_batch_id bigint, of_condition_id bigint) RETURNS boolean
LANGUAGE sql STABLE AS $$
    SELECT EXISTS (
        SELECT
        FROM (
            -- OFFSET 0: never along the jobs of the condition, most of which may be those of others.
            SELECT x.condition_id
            FROM weft.blocked_job x
            WHERE x.batch_id = of_batch_id
            OFFSET 0
        ) k
        WHERE k.condition_id = of_condition_id
    )
        OR EXISTS (
            SELECT FROM weft.condition c WHERE c.condition_id = of_condition_id AND c.transport IS NOT NULL
        )
$$;
