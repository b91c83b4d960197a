-- _quota_owner: whose quota it is, as errors name them: a user, or the tenant (NULL).
-- Plan: by key.
-- Owner: weft_tenant.
-- Granted to: weft_system.
CREATE OR REPLACE FUNCTION weft._quota_owner(of_tenant_id int, of_user_id int) RETURNS text
LANGUAGE sql STABLE AS $$
    SELECT CASE
        WHEN of_user_id IS NULL
            THEN (SELECT format('tenant "%s"', t.name) FROM weft.tenant t WHERE t.tenant_id = of_tenant_id)
        ELSE (SELECT format('user "%s"', u.name) FROM weft.tenant_user u WHERE u.user_id = of_user_id)
    END
$$;
