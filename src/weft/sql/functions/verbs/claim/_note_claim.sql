-- _note_claim: note that a worker which slept, or tries one job, has claimed. After the job of its try it is
--   cordoned again. If it leaves work behind, it wakes another one, since a little work wakes a few workers
--   only (_wake_workers), or two if it leaves more than twice as much as those would take who were woken
--   together with it (ADR 45).
-- Safe to repeat: yes.
-- Locks: incarnation (its row, SKIP LOCKED); black_hole (SKIP LOCKED).
-- Plan: by key.
-- The heartbeat may wait for locks held here, so a row that it has is skipped: that costs one notice, until
--   the next claim. If the try is not noted, another one follows.
-- stopped_at, taken: the offer with which the claim ended, and the jobs of it that were taken; as _jobs_left.
--   n_jobs: of all offers.
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._note_claim(
    of_incarnation_id int,
    of_pool_id int,
    trying boolean,
    stopped_at weft.offer,
    taken int[],
    n_jobs int,
    lanes int[],
    shares weft.shares
) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    v_much int := 32 * least(n_jobs, 20);
    v_left int;
BEGIN
    UPDATE weft.worker_incarnation i
    SET waiting = false, cordoned = i.cordoned OR i.trying, trying = false
    WHERE i.ctid = (
        SELECT x.ctid
        FROM weft.worker_incarnation x
        WHERE x.incarnation_id = of_incarnation_id
        FOR NO KEY UPDATE SKIP LOCKED
    );
    IF _note_claim.trying THEN
        UPDATE weft.black_hole b
        SET
            try_batch_id = stopped_at.batch_id,
            try_job_id = taken[1],
            try_attempt = (
                SELECT j.attempt
                FROM weft.job j
                WHERE j.batch_id = stopped_at.batch_id AND j.job_id = taken[1]
            )
        WHERE b.ctid = (
            SELECT x.ctid
            FROM weft.black_hole x
            JOIN weft.worker_incarnation i
            USING (worker_id)
            WHERE i.incarnation_id = of_incarnation_id
            FOR NO KEY UPDATE OF x SKIP LOCKED
        );
    ELSIF stopped_at.batch_id IS NOT NULL THEN
        v_left := weft._jobs_left(
            stopped_at, coalesce(taken[cardinality(taken)], 0), of_pool_id, lanes, shares, v_much
        );
        IF v_left > 0 THEN
            PERFORM weft._wake_workers(
                ARRAY[of_pool_id], ARRAY[stopped_at.lane_id], CASE WHEN v_left >= v_much THEN 2 ELSE 1 END
            );
        END IF;
    END IF;
END $$;
