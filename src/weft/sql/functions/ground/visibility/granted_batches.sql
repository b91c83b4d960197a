-- granted_batches: the batches that were granted to the caller of this transaction as a whole.
-- Plan: by index, all of them.
-- Owner: weft_tenant.
-- Granted to: weft_api, weft_driver.
CREATE OR REPLACE FUNCTION weft.granted_batches() RETURNS SETOF bigint LANGUAGE sql STABLE AS $$
    SELECT g.batch_id FROM weft.batch_grant g WHERE g.job_id = 0 AND g.user_id = weft._caller_id()
$$;
