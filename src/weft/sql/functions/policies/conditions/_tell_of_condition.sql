-- _tell_of_condition: tell the driver of one that was changed; raise WF116 if none is there that could be.
-- Safe to repeat: yes.
-- Owner: weft_tenant.
CREATE OR REPLACE FUNCTION weft._tell_of_condition(of_condition_id bigint, is_there boolean) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
    IF is_there THEN
        PERFORM pg_notify('driver', 'conditions');
        RETURN;
    ELSIF EXISTS (
        SELECT
        FROM weft.condition c
        WHERE c.condition_id = of_condition_id
            AND c.transport IS NOT NULL
            AND weft._sees_condition(c.condition_id)
    ) THEN
        PERFORM weft._fail(
            'WF116',
            format('condition %s is not one that jobs are blocked on', of_condition_id),
            'A transport is away. Its jobs wait in their queues, and go on when it is back.',
            'Look at it with `weft transport ls`.'
        );
    END IF;
    PERFORM weft._fail(
        'WF116',
        format('condition %s does not exist', of_condition_id),
        'It is over, none of the jobs that you see waits for it, or there never was one.',
        'List what jobs wait for with `weft condition ls`.'
    );
END $$;
