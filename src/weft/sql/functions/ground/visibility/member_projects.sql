-- member_projects: the billing projects of which the caller of this transaction is a member: they see all
--   their batches.
-- Plan: by index.
-- Owner: weft_tenant.
-- Granted to: weft_api, weft_driver.
CREATE OR REPLACE FUNCTION weft.member_projects() RETURNS SETOF int LANGUAGE sql STABLE AS $$
    SELECT m.project_id FROM weft.billing_member m WHERE m.user_id = weft._caller_id()
$$;
