-- test_condition: test a condition now, whatever its date.
-- Safe to repeat: yes, then it is tested again.
-- Locks: condition.
-- Plan: by key; as _sees_condition.
-- Raises WF116.
-- Owner: weft_tenant.
-- Granted to: weft_api.
CREATE OR REPLACE FUNCTION weft.test_condition(
    tenant_id int, of_condition_id bigint, at timestamptz DEFAULT clock_timestamp()
) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    UPDATE weft.condition c
    SET next_test_at = test_condition.at
    WHERE c.condition_id = of_condition_id AND c.transport IS NULL AND weft._sees_condition(c.condition_id);
    PERFORM weft._tell_of_condition(of_condition_id, FOUND);
END $$;
