-- _members_of: the fields of a billing project's document that tell its members.
-- Plan: members by key, at most members_max; NULL: all.
-- Owner: weft_tenant.
CREATE OR REPLACE FUNCTION weft._members_of(of_project_id int, members_max int) RETURNS jsonb
LANGUAGE plpgsql STABLE PLAN_BY_KEY AS $$
BEGIN
    IF members_max IS NULL THEN
        RETURN (
            SELECT jsonb_build_object('members', coalesce(jsonb_agg(t.name ORDER BY t.name), '[]'))
            FROM weft.billing_member b
            JOIN weft.tenant_user t
            USING (user_id)
            WHERE b.project_id = of_project_id
        );
    END IF;
    RETURN jsonb_build_object(
        'members', (
            SELECT coalesce(jsonb_agg(t.name ORDER BY x.user_id), '[]')
            FROM (
                SELECT b.user_id
                FROM weft.billing_member b
                WHERE b.project_id = of_project_id
                ORDER BY b.user_id
                LIMIT members_max
            ) x
            JOIN weft.tenant_user t
            USING (user_id)
        ),
        'has_more_members', EXISTS (
            SELECT FROM weft.billing_member b WHERE b.project_id = of_project_id OFFSET members_max
        )
    );
END $$;
