-- _no_schedule: raise WF115.
-- Safe to repeat: yes.
-- Owner: weft_tenant.
CREATE OR REPLACE FUNCTION weft._no_schedule(of_schedule_id bigint) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    PERFORM weft._fail(
        'WF115',
        format('schedule s%s does not exist', of_schedule_id),
        'It was removed, or there never was one.',
        'List them with `weft schedule ls`.'
    );
END $$;
