-- _secrets_of: the encrypted secrets that options of a source, look-up or sink name as `${secret.NAME}`:
--   those of its owner.
-- Plan: by key.
-- Returns: what each is bound to, and its value in base64 by its name; NULL: the options name none.
-- Owner: weft_system.
-- Granted to: weft_tenant.
CREATE OR REPLACE FUNCTION weft._secrets_of(of_tenant_id int, of_user_id int, options text) RETURNS jsonb
LANGUAGE plpgsql STABLE AS $$
BEGIN
    IF strpos(options, '${secret.') = 0 THEN
        RETURN NULL;
    END IF;
    RETURN jsonb_build_object(
        'tenant_id', of_tenant_id,
        'user_id', of_user_id,
        'bodies', (
            SELECT coalesce(jsonb_object_agg(s.name, translate(encode(s.body, 'base64'), E'\n', '')), '{}')
            FROM weft.secret s
            WHERE s.user_id = of_user_id
                AND s.name IN (SELECT m[1] FROM regexp_matches(options, '\$\{secret\.([\w.-]+)\}', 'g') m)
        )
    );
END $$;
