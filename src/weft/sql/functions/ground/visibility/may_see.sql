-- may_see: whether the caller of this transaction sees a batch, as _permission says.
-- Plan: as _permission.
-- Owner: weft_tenant.
-- Granted to: weft_api, weft_driver.
CREATE OR REPLACE FUNCTION weft.may_see(of_batch_id bigint, of_user_id int, of_project_id int) RETURNS boolean
LANGUAGE plpgsql STABLE AS $$
BEGIN
    RETURN weft._permission(of_batch_id, of_user_id, of_project_id) > 0;
END $$;
