-- _report_projects: the billing projects of a report: one that is named, those of a member, or all of the
--   tenant, which are `{0}` in sums.
-- Plan: memberships of the user; a project by name; by attribute all projects of the tenant, because batches
--   have no sum of a tenant.
-- projects_max: refuse to add up more of them than this, as a report by project does not; NULL: any number.
-- Raises WF105 (no such project), WF133 (too many projects).
-- Owner: weft_tenant.
CREATE OR REPLACE FUNCTION weft._report_projects(
    of_tenant_id int, of_user_id int, of_project text, by text, projects_max int
) RETURNS int[] LANGUAGE plpgsql STABLE AS $$
DECLARE
    v_project int[];
BEGIN
    IF of_project IS NOT NULL THEN
        v_project := ARRAY(
            SELECT p.project_id
            FROM weft._find_projects(of_tenant_id, ARRAY[of_project]) p
            WHERE of_user_id IS NULL
                OR EXISTS (
                    SELECT
                    FROM weft.billing_member m
                    WHERE m.project_id = p.project_id AND m.user_id = of_user_id
                )
        );
        IF v_project = '{}' THEN
            PERFORM weft._fail(
                'WF105',
                format('billing project "%s" does not exist', of_project),
                'There is no such billing project, or you are not a member of it.',
                '`weft billing` lists yours.'
            );
        END IF;
    ELSIF of_user_id IS NOT NULL THEN
        v_project := ARRAY(
            SELECT m.project_id
            FROM weft.billing_member m
            WHERE m.user_id = of_user_id
            ORDER BY m.project_id
            LIMIT CASE WHEN by <> 'project' THEN projects_max + 1 END
        );
    ELSIF by = 'attribute' THEN
        v_project := ARRAY(
            SELECT p.project_id
            FROM weft.billing_project p
            WHERE p.tenant_id = of_tenant_id
            LIMIT projects_max + 1
        );
    ELSE
        RETURN '{0}';
    END IF;
    IF by <> 'project' AND cardinality(v_project) > projects_max THEN
        PERFORM weft._fail(
            'WF133',
            'the report covers too many billing projects',
            format('A part of it would add up more than %s of them.', projects_max),
            'Name one project, or leave out the limit of rows: `weft billing report` has none.'
        );
    END IF;
    RETURN v_project;
END $$;
