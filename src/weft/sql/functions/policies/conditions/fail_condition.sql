-- fail_condition: give up a condition: the driver ends its jobs as errors (fail_conditions).
-- Safe to repeat: yes.
-- Locks: condition.
-- Plan: by key; as _sees_condition.
-- Raises WF116.
-- Owner: weft_tenant.
-- Granted to: weft_api.
CREATE OR REPLACE FUNCTION weft.fail_condition(tenant_id int, of_condition_id bigint, actor text) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
    UPDATE weft.condition c
    SET failed_by = fail_condition.actor, n_going = 0
    WHERE c.condition_id = of_condition_id AND c.transport IS NULL AND weft._sees_condition(c.condition_id);
    PERFORM weft._tell_of_condition(of_condition_id, FOUND);
END $$;
