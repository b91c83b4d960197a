-- count_submitters: how many users of all tenants may have jobs: none who only read, and no workers.
-- Plan: all users, some thousands.
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft.count_submitters() RETURNS int LANGUAGE sql STABLE AS $$
    SELECT count(*)::int
    FROM weft.tenant_user u
    WHERE u.removed_at IS NULL AND u.role NOT IN ('viewer', 'worker')
$$;
