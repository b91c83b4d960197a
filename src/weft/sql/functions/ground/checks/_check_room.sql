-- _check_room: raise WF212 if a batch would have more groups than it may.
-- Safe to repeat: yes, it only reads.
-- Owner: weft_tenant.
CREATE OR REPLACE FUNCTION weft._check_room(of_batch_id bigint, n_groups int, groups_max int) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
    IF _check_room.n_groups > groups_max THEN
        PERFORM weft._fail(
            'WF212',
            format('batch b%s has too many groups', of_batch_id),
            format('It would have %s, the limit is %s.', _check_room.n_groups, groups_max),
            'Use attributes and queries instead of groups, or raise batch_groups_max.'
        );
    END IF;
END $$;
