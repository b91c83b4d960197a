-- _check_resubmitted: raise WF101, WF235 or WF236 unless a new batch can be made from this one.
-- Safe to repeat: yes, it only reads.
-- Plan: by key.
-- failed: only of what failed. That is known when all jobs have ended.
-- Owner: weft_tenant.
CREATE OR REPLACE FUNCTION weft._check_resubmitted(of_batch_id bigint, failed boolean) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
    v record;
BEGIN
    PERFORM weft._check_batch(of_batch_id);
    SELECT n.*, n.n_pending + n.n_ready + n.n_queued + n.n_creating + n.n_running + n.n_blocked AS n_open
    INTO v
    FROM weft._group_counts(ARRAY[of_batch_id], ARRAY[0]) n;
    IF v.n_open + v.n_succeeded + v.n_failed + v.n_errored + v.n_cancelled = 0 THEN
        PERFORM weft._fail(
            'WF235',
            format('batch b%s has nothing to resubmit', of_batch_id),
            'It has no jobs.',
            'Submit jobs to a new batch.'
        );
    ELSIF failed AND v.n_open > 0 THEN
        PERFORM weft._fail(
            'WF236',
            format('batch b%s is still running', of_batch_id),
            format('%s of its jobs have not ended, so what fails is not known yet.', v.n_open),
            format(
                'Wait for its end: `weft wait b%s`; or retry in the batch what has failed: `weft retry b%s`.',
                of_batch_id,
                of_batch_id
            )
        );
    ELSIF failed AND v.n_failed + v.n_errored = 0 THEN
        PERFORM weft._fail(
            'WF235',
            format('batch b%s has nothing to resubmit', of_batch_id),
            'None of its jobs failed.',
            format('To run all its jobs once more, leave out --failed: `weft resubmit b%s`.', of_batch_id)
        );
    END IF;
END $$;
