-- _project_of: the billing project of this name that a user may charge.
-- Plan: project by name, member by key.
-- Raises WF105 (there is none, or the user is not a member), WF125 (it is closed).
-- Owner: weft_tenant.
CREATE OR REPLACE FUNCTION weft._project_of(of_tenant_id int, of_user_id int, of_name text) RETURNS int
LANGUAGE plpgsql STABLE AS $$
DECLARE
    v_project weft.billing_project;
BEGIN
    SELECT p.*
    INTO v_project
    FROM (
        SELECT x.*
        FROM weft.billing_project x
        WHERE x.tenant_id = of_tenant_id AND x.name_key = weft._name_key(of_name)
        OFFSET 0
    ) p
    WHERE p.deleted_at IS NULL
        AND EXISTS (
            SELECT FROM weft.billing_member m WHERE m.project_id = p.project_id AND m.user_id = of_user_id
        );
    IF v_project.project_id IS NULL THEN
        PERFORM weft._fail(
            'WF105',
            format('billing project "%s" does not exist', of_name),
            'There is no such billing project, or you are not a member of it.',
            'Leave it out to use "default".'
        );
    END IF;
    IF v_project.closed_at IS NOT NULL THEN
        PERFORM weft._fail(
            'WF125',
            format('billing project "%s" is closed', v_project.name),
            'It takes no new batches.',
            'Name another one (`weft billing` lists yours), or ask an administrator to reopen it.'
        );
    END IF;
    RETURN v_project.project_id;
END $$;
