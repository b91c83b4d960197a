-- release_condition: let jobs of a condition go on without a test, those that are due first. The driver does
--   it (release_conditions).
-- Safe to repeat: as a request with a key (first_answer).
-- Locks: condition.
-- Plan: by key; as _sees_condition.
-- Raises WF116.
-- Owner: weft_tenant.
-- Granted to: weft_api.
CREATE OR REPLACE FUNCTION weft.release_condition(tenant_id int, of_condition_id bigint, n_more int)
RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    UPDATE weft.condition c
    SET n_going = c.n_going + n_more
    WHERE c.condition_id = of_condition_id AND c.transport IS NULL AND weft._sees_condition(c.condition_id);
    PERFORM weft._tell_of_condition(of_condition_id, FOUND);
END $$;
