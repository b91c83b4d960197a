-- _no_setup: raise WF142, because there is no such setup.
-- Safe to repeat: yes.
-- Owner: weft_tenant.
CREATE OR REPLACE FUNCTION weft._no_setup(of_name text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    PERFORM weft._fail(
        'WF142',
        format('line "%s" does not exist', left(of_name, 64)),
        'No file was applied under this name.',
        'Apply one with `weft line apply FILE`.'
    );
END $$;
