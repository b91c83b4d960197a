-- _no_user: raise that the tenant has no user of this name.
-- Safe to repeat: yes.
-- Raises WF118.
-- Owner: weft_tenant.
CREATE OR REPLACE FUNCTION weft._no_user(of_name text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    PERFORM weft._fail(
        'WF118',
        format('user "%s" does not exist', of_name),
        'The tenant has no user of this name.',
        'List them with `weft user ls`.'
    );
END $$;
