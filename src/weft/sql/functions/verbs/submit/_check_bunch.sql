-- _check_bunch: whether a bunch may be added: NULL, it may; otherwise it is there, and whether it came from
--   the same body.
-- Safe to repeat: yes, it only reads.
-- Plan: bunches by key.
-- Raises WF201 (key used with another body), WF203 (committed), WF207 (outside the update).
-- Owner: weft_tenant.
CREATE OR REPLACE FUNCTION weft._check_bunch(of_update weft.batch_update, bunch weft.bunch) RETURNS boolean
LANGUAGE plpgsql AS $$
DECLARE
    v_first int := bunch.first_job - of_update.first_job + 1;
    v_last int := v_first + bunch.n_jobs - 1;
    v_is_same boolean;
BEGIN
    IF v_first < 1 OR bunch.n_jobs < 1 OR v_last > of_update.n_jobs THEN
        PERFORM weft._fail(
            'WF207',
            'the jobs do not fit into their update',
            format('Jobs %s to %s were sent, the update reserved %s.', v_first, v_last, of_update.n_jobs),
            'Number the jobs of an update from 1 on.'
        );
    END IF;
    IF EXISTS (
        SELECT
        FROM weft.bunch x
        WHERE x.batch_id = bunch.batch_id
            AND x.update_id = bunch.update_id
            AND x.idempotency_key = bunch.idempotency_key
            AND x.digest <> bunch.digest
    ) THEN
        PERFORM weft._fail(
            'WF201',
            'the idempotency key was used for another request',
            format(
                'It added jobs to update %s of batch b%s from a different body.',
                bunch.update_id,
                bunch.batch_id
            ),
            'Send the same body again, or choose a new key.'
        );
    END IF;
    v_is_same := weft._is_same_bunch(
        bunch.batch_id, bunch.update_id, bunch.first_job, bunch.n_jobs, bunch.digest
    );
    IF v_is_same IS NULL AND of_update.committed_at IS NOT NULL THEN
        PERFORM weft._fail(
            'WF203',
            format('update %s of batch b%s is committed', bunch.update_id, bunch.batch_id),
            'A committed update never changes.',
            'Create a new update.'
        );
    END IF;
    RETURN v_is_same;
END $$;
