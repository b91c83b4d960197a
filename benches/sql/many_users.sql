-- many_users: make $1 users beside the user $2, who may all submit to the same billing projects.
WITH one AS (
    INSERT INTO weft.tenant_user (tenant_id, name)
    SELECT u.tenant_id, format('user-%s', n)
    FROM weft.tenant_user u
    CROSS JOIN generate_series(1, $1::int) n
    WHERE u.user_id = $2::int
    RETURNING user_id, tenant_id, name
),
member AS (
    INSERT INTO weft.billing_member (project_id, user_id, tenant_id)
    SELECT m.project_id, o.user_id, m.tenant_id
    FROM weft.billing_member m
    CROSS JOIN one o
    WHERE m.user_id = $2::int
)
SELECT o.tenant_id, o.user_id, o.name AS user_name
FROM one o
ORDER BY o.user_id
