-- _no_condition: raise WF116.
-- Called by: functions of the api about conditions.   Safe to repeat: yes.
-- Owner: weft_tenant.
CREATE OR REPLACE FUNCTION weft._no_condition(of_condition_id bigint) RETURNS void LANGUAGE plpgsql
AS $$
BEGIN
    PERFORM weft._fail('WF116', format('condition %s does not exist', of_condition_id),
        'It is over, none of the jobs that you see waits for it, or there never was one.',
        'List what jobs wait for with `weft condition ls`.');
END $$;
