-- _no_app: say that there is no application of this name.
-- Safe to repeat: yes.
-- Raises WF161.
-- Owner: weft_tenant.
CREATE OR REPLACE FUNCTION weft._no_app(of_name text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    PERFORM weft._fail(
        'WF161',
        format('application "%s" does not exist', of_name),
        'You may run no application of this name.',
        'List them with `weft app ls`.'
    );
END $$;
