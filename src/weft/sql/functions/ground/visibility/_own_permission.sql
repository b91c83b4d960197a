-- _own_permission: what the caller of this transaction may do with a batch, as a PERMISSION, where members of
--   its billing project see only what is their own: as _permission, without them; 0: it does not exist for
--   them.
-- Plan: grants by key.
-- Owner: weft_tenant.
CREATE OR REPLACE FUNCTION weft._own_permission(of_batch_id bigint, of_user_id int) RETURNS int
LANGUAGE plpgsql STABLE AS $$
BEGIN
    IF weft._caller_id() IS NULL OR weft._caller_id() = of_user_id THEN
        RETURN PERMISSION_ALL;
    END IF;
    RETURN coalesce(
        (
            SELECT g.permission
            FROM weft.batch_grant g
            WHERE g.batch_id = of_batch_id AND g.job_id = 0 AND g.user_id = weft._caller_id()
        ),
        0
    );
END $$;
