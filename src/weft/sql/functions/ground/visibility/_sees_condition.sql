-- _sees_condition: whether the caller of this transaction sees a condition: a job of a batch that they see
--   waits there.
-- Plan: as _shown_waiting, until there is one.
-- Owner: weft_tenant.
CREATE OR REPLACE FUNCTION weft._sees_condition(of_condition_id bigint) RETURNS boolean
LANGUAGE plpgsql STABLE AS $$
BEGIN
    RETURN weft._caller_id() IS NULL
        OR EXISTS (SELECT FROM weft._shown_waiting(of_condition_id, 1))
        OR weft._shown_queued(of_condition_id) > 0;
END $$;
