-- _app_user: the number of the user for whom an application is; 0 if it is for everybody (NULL).
-- Safe to repeat: yes, it only reads.
-- Plan: users of the tenant by index.
-- Raises WF118.
-- Owner: weft_tenant.
CREATE OR REPLACE FUNCTION weft._app_user(of_tenant_id int, of_name text) RETURNS int LANGUAGE plpgsql AS $$
DECLARE
    v_id int := 0;
BEGIN
    IF of_name IS NOT NULL THEN
        SELECT u.user_id
        INTO v_id
        FROM weft.tenant_user u
        WHERE u.tenant_id = of_tenant_id AND u.name_key = weft._name_key(of_name) AND u.removed_at IS NULL;
        IF NOT FOUND THEN
            PERFORM weft._no_user(of_name);
        END IF;
    END IF;
    RETURN v_id;
END $$;
