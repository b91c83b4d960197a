-- _sees_limit: whether a user is shown a limit: their own, one of their billing projects, or one of a batch
--   that the caller of this transaction sees; NULL: any.
-- Plan: member by key; as _sees_batch.
-- Owner: weft_tenant.
CREATE OR REPLACE FUNCTION weft._sees_limit(of_limit weft.spend_limit, of_user_id int) RETURNS boolean
LANGUAGE plpgsql STABLE AS $$
BEGIN
    RETURN of_user_id IS NULL
        OR of_limit.user_id = of_user_id
        OR of_limit.batch_id IS NOT NULL AND weft._sees_batch(of_limit.batch_id)
        OR EXISTS (
            SELECT
            FROM weft.billing_member m
            WHERE m.project_id = of_limit.project_id AND m.user_id = of_user_id
        );
END $$;
