-- many_tenants: make $1 tenants with $2 users each, as `create_tenant` and `add_user` do. The token of user 3
--   of tenant 7 is `$3-7-3`; user 1
-- is the tenant's administrator.
WITH one AS (
    INSERT INTO weft.tenant (name)
    SELECT format('tenant-%s', n)
    FROM generate_series(1, $1::int) n
    RETURNING tenant_id, name
),
person AS (
    INSERT INTO weft.tenant_user (tenant_id, name, role)
    SELECT o.tenant_id, format('user-%s', n), CASE n WHEN 1 THEN 'tenant-admin' ELSE 'user' END
    FROM one o
    CROSS JOIN generate_series(1, $2::int) n
    RETURNING tenant_id, user_id, name
),
project AS (
    INSERT INTO weft.billing_project (tenant_id, name)
    SELECT o.tenant_id, 'default'
    FROM one o
    RETURNING project_id, tenant_id
),
member AS (
    INSERT INTO weft.billing_member (project_id, user_id, tenant_id)
    SELECT p.project_id, u.user_id, u.tenant_id
    FROM project p
    JOIN person u
    USING (tenant_id)
),
queue AS (
    INSERT INTO weft.queue (tenant_id, pool_id, name)
    SELECT o.tenant_id, p.pool_id, 'default'
    FROM one o
    CROSS JOIN weft.pool p
    WHERE p.name = 'default'
)
INSERT INTO weft.token (token_hash, tenant_id, user_id, name)
SELECT
    sha256(
        convert_to(
            format('%s-%s-%s', $3::text, split_part(o.name, '-', 2), split_part(u.name, '-', 2)), 'UTF8'
        )
    ),
    u.tenant_id,
    u.user_id,
    'bench'
FROM person u
JOIN one o
USING (tenant_id)
