-- _sees_batch: whether the caller of this transaction sees a batch of their tenant, deleted or not, as
--   _permission says.
-- Plan: by key.
-- Owner: weft_tenant.
-- Granted to: weft_system.
CREATE OR REPLACE FUNCTION weft._sees_batch(of_batch_id bigint) RETURNS boolean LANGUAGE plpgsql STABLE AS $$
BEGIN
    RETURN coalesce(current_setting('weft.user', true), '') = ''
        OR EXISTS (
            SELECT
            FROM weft.batch b
            WHERE b.batch_id = of_batch_id AND weft._permission(b.batch_id, b.user_id, b.project_id) > 0
        );
END $$;
