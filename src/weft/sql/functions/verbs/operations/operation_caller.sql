-- operation_caller: who has asked for an operation, with their present role.
-- Safe to repeat: yes, it only reads.
-- Locks: as _check_term.
-- Plan: by key.
-- Returns: no row if the user was removed.
-- Owner: weft_system.
-- Granted to: weft_driver.
CREATE OR REPLACE FUNCTION weft.operation_caller(epoch bigint, of_operation_id bigint)
RETURNS TABLE (tenant_id int, user_id int, user_name text, role text) LANGUAGE plpgsql AS $$
BEGIN
    RETURN QUERY
    SELECT u.tenant_id, u.user_id, u.name, u.role
    FROM weft.operation o
    JOIN weft.tenant_user u
    USING (user_id)
    WHERE o.operation_id = of_operation_id AND u.removed_at IS NULL;
END $$;
