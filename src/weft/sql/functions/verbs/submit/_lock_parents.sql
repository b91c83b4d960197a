-- _lock_parents: lock the parents in earlier updates; all must be committed jobs.
-- Safe to repeat: yes.
-- Locks: job (those that run, in key order, shared); cascade (theirs, shared); child (the others, in key
--   order, shared); cascade (of those that ended meanwhile, tried).
-- Plan: parents by key; services of the batch by key.
-- Parents are locked before they are read, and a completion reads the edges after it has changed the parent's
--   row: so exactly one of the two counts each end. If the sweep still has to settle a parent's children, it
--   will settle ours; its row of weft.cascade is locked too, so that the sweep does not skip them.
-- Running parents come first: a report locks those, then waiting children, which may have lower numbers.
--   Those that wait come last: the sweep locks children while it holds rows of weft.cascade (lock order, ADR
--   8).
-- Nothing waits here for a parent that began to run meanwhile, or that ended and whose children are being
--   told: others may hold it and want rows that are held here. Those are let go then, and the next try waits
--   for it first. While thousands of parents run, each try may meet one more; the last one fails with 55P03,
--   and the store repeats the call. Every other try waits for those that wait, one by one; most of the time
--   nobody holds any, and one statement locks them all.
-- base: the number before the update's first job.
-- Raises WF205 (no such parent), WF231 (it is a service).
-- Owner: weft_tenant.
CREATE OR REPLACE FUNCTION weft._lock_parents(
    of_batch_id bigint, base int, edge_parents int[], edge_parent_ns int[]
) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    v_parent int[];
    v_one int;
    v_wrong int;
    v_service int;
BEGIN
    SELECT array_agg(DISTINCT -p ORDER BY -p) INTO v_parent FROM unnest(edge_parents) p WHERE p <= 0;
    IF v_parent IS NULL THEN
        RETURN;
    END IF;
    FOR v_try IN 1..40 LOOP
        BEGIN
            PERFORM
            FROM unnest(v_parent) p
            CROSS JOIN LATERAL (
                SELECT
                FROM weft.job j
                WHERE j.batch_id = of_batch_id AND j.job_id = p AND j.state = STATE_RUNNING
                FOR SHARE
            ) l;
            PERFORM
            FROM unnest(v_parent) p
            CROSS JOIN LATERAL (
                SELECT FROM weft.cascade c WHERE c.batch_id = of_batch_id AND c.job_id = p FOR SHARE
            ) l;
            IF v_try % 2 = 1 THEN
                PERFORM
                FROM unnest(v_parent) p
                CROSS JOIN LATERAL (
                    SELECT FROM weft.job j WHERE j.batch_id = of_batch_id AND j.job_id = p FOR SHARE NOWAIT
                ) l;
            ELSE
                FOREACH v_one IN ARRAY v_parent LOOP
                    PERFORM
                    FROM weft.job j
                    WHERE j.batch_id = of_batch_id AND j.job_id = v_one AND j.state = STATE_RUNNING
                    FOR SHARE NOWAIT;
                    PERFORM FROM weft.job j WHERE j.batch_id = of_batch_id AND j.job_id = v_one FOR SHARE;
                END LOOP;
            END IF;
            PERFORM
            FROM unnest(v_parent) p
            CROSS JOIN LATERAL (
                SELECT FROM weft.cascade c WHERE c.batch_id = of_batch_id AND c.job_id = p FOR SHARE NOWAIT
            ) l;
            EXIT;
        EXCEPTION
            WHEN lock_not_available THEN
                IF v_try = 40 THEN
                    RAISE;
                END IF;
        END;
    END LOOP;
    SELECT p
    INTO v_wrong
    FROM unnest(v_parent) p
    WHERE p > base
        OR NOT EXISTS (
            SELECT
            FROM weft.job j
            JOIN weft.batch_update u ON u.batch_id = j.batch_id AND u.update_id = j.update_id
            WHERE j.batch_id = of_batch_id AND j.job_id = p AND u.committed_at IS NOT NULL
        )
    LIMIT 1;
    IF v_wrong IS NOT NULL THEN
        RAISE EXCEPTION
            USING ERRCODE = 'WF205',
            MESSAGE = format('parent j%s of batch b%s does not exist', v_wrong, of_batch_id),
            DETAIL = 'A parent is a job of this update or of a committed one.',
            HINT = 'Refer to jobs of this update by their number in it.',
            COLUMN = format('j%s', v_wrong);  -- the store reads it as the error's subject
    END IF;
    SELECT s.job_id
    INTO v_service
    FROM (SELECT x.job_id FROM weft.service x WHERE x.batch_id = of_batch_id OFFSET 0) s
    WHERE -s.job_id IN (
        SELECT t.p FROM unnest(edge_parents, edge_parent_ns) t (p, n) WHERE t.n IS DISTINCT FROM 0
    )
        AND EXISTS (
            SELECT
            FROM weft.job j
            WHERE j.batch_id = of_batch_id AND j.job_id = s.job_id AND j.state < STATE_SUCCESS
        )
    LIMIT 1;
    IF v_service IS NOT NULL THEN
        RAISE EXCEPTION
            USING ERRCODE = 'WF231',
            MESSAGE = 'it would wait for a service, which does not end',
            DETAIL =
                format('Parent j%s of batch b%s is a service that has not ended.', v_service, of_batch_id),
            HINT = 'Leave it out of the parents.',
            COLUMN = format('j%s', v_service);
    END IF;
END $$;
