-- _find_retried: the next jobs of a batch that a retry runs again: those that failed, and those that were
--   cancelled because a parent did, or too many others, if all their parents succeed, or run again.
-- Safe to repeat: yes, it only reads.
-- Plan: jobs by key from the first to the last number, at most limit_rows that did not succeed; of them edges
--   and cancels by key.
-- named: jobs that a person named: they also run again if a person cancelled them. matching: only these, of
--   those that failed; NULL: all.
-- lifted: groups whose cancel by their limit of failures this retry has lifted; for a copy, all that such a
--   limit has cancelled.
-- Parents have lower numbers, so what is decided about those below from_job shows in their states. new_batch:
--   they do not run again but are copied to this batch, which has the parents that were decided about, and
--   neither the cancels nor the deadlines of the old one: what failed is copied from a group that a person
--   has cancelled, too, but not what that cancelled.
-- Returns: the jobs in order, the last number that was examined, and how many were left out because they
--   cannot end by their deadline.
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._find_retried(
    of_batch_id bigint,
    named int[],
    matching int[],
    from_job bigint,
    to_job bigint,
    limit_rows int,
    at timestamptz,
    new_batch bigint DEFAULT NULL,
    lifted int[] DEFAULT NULL,
    OUT job_ids int[],
    OUT upto bigint,
    OUT n_late int
) LANGUAGE plpgsql PLAN_BY_KEY AS $$
DECLARE
    v_edges boolean;
    v_closed boolean;
    v_cancels boolean;
    v_deadlines boolean;
    v_n int;
    v_stuck int[];
BEGIN
    SELECT
        b.has_edges,
        EXISTS (SELECT FROM weft.group_cancel c WHERE c.batch_id = b.batch_id),
        EXISTS (SELECT FROM weft.job_cancel c WHERE c.batch_id = b.batch_id),
        new_batch IS NULL AND EXISTS (SELECT FROM weft.job_deadline d WHERE d.batch_id = b.batch_id)
    INTO v_edges, v_closed, v_cancels, v_deadlines
    FROM weft.batch b
    WHERE b.batch_id = of_batch_id;
    WITH found AS MATERIALIZED (
        SELECT
            j.job_id,
            j.state,
            j.group_id,
            j.always_run,
            j.cancelled_at,
            named IS NOT NULL AND j.job_id = ANY (named) AS is_named
        FROM weft.job j
        WHERE j.batch_id = of_batch_id
            AND j.job_id BETWEEN from_job AND to_job
            AND j.state > STATE_SUCCESS
            AND (
                CASE
                    WHEN named IS NOT NULL THEN j.job_id = ANY (named)
                    ELSE j.state <> STATE_CANCELLED AND (matching IS NULL OR j.job_id = ANY (matching))
                END
                    OR j.state = STATE_CANCELLED
                        AND NOT j.always_run
                        AND (
                            j.bad_parent AND j.cancelled_at IS NOT NULL
                                OR lifted IS NOT NULL
                                    AND EXISTS (
                                        SELECT
                                        FROM weft.group_ancestor a
                                        WHERE a.batch_id = j.batch_id
                                            AND a.group_id = j.group_id
                                            AND a.ancestor_id = ANY (lifted)
                                    )
                        )
            )
        ORDER BY j.job_id
        LIMIT limit_rows
    ),
    -- Neither a cancel by a person nor a deadline is undone.
    meant AS MATERIALIZED (
        SELECT
            f.job_id,
            v_deadlines AND weft._is_late(of_batch_id, f.job_id, _find_retried.at) IS TRUE AS is_late
        FROM found f
        WHERE (
            NOT v_cancels
                OR f.is_named
                OR NOT EXISTS (
                    SELECT FROM weft.job_cancel c WHERE c.batch_id = of_batch_id AND c.job_id = f.job_id
                )
        )
            AND (
                f.is_named
                    OR f.state <> STATE_CANCELLED
                    OR NOT EXISTS (
                        SELECT
                        FROM weft.job_change c
                        WHERE c.batch_id = of_batch_id
                            AND c.job_id = f.job_id
                            AND c.at = f.cancelled_at
                            AND c.to_state = STATE_CANCELLED
                    )
            )
            AND (
                NOT v_closed
                    OR NOT weft._is_cancelled(of_batch_id, f.group_id, f.always_run)
                    OR new_batch IS NOT NULL
                        AND (
                            f.state <> STATE_CANCELLED
                                OR NOT EXISTS (
                                    SELECT
                                    FROM weft.group_ancestor a
                                    JOIN weft.group_cancel c ON c.batch_id = a.batch_id
                                        AND c.group_id = a.ancestor_id
                                    WHERE a.batch_id = of_batch_id
                                        AND a.group_id = f.group_id
                                        AND c.group_id <> ALL (lifted)
                                )
                        )
            )
    )
    SELECT
        (SELECT count(*) FROM found),
        (SELECT max(f.job_id) FROM found f),
        array_agg(m.job_id ORDER BY m.job_id) FILTER (WHERE NOT m.is_late),
        count(*) FILTER (WHERE m.is_late)
    INTO v_n, upto, job_ids, n_late
    FROM meant m;
    IF v_n < limit_rows THEN
        upto := to_job;
    END IF;
    WHILE v_edges AND job_ids IS NOT NULL LOOP
        WITH RECURSIVE of_set AS MATERIALIZED (
            SELECT x AS job_id
            FROM unnest(job_ids) x
            WHERE NOT (SELECT j.always_run FROM weft.job j WHERE j.batch_id = of_batch_id AND j.job_id = x)
        ),
        stuck (job_id) AS (
            SELECT s.job_id
            FROM of_set s
            CROSS JOIN LATERAL (
                SELECT y.* FROM weft.edge y WHERE y.batch_id = of_batch_id AND y.child_id = s.job_id OFFSET 0
            ) e
            CROSS JOIN LATERAL (
                SELECT j.state
                FROM weft.job j
                WHERE j.batch_id = of_batch_id AND j.job_id = e.parent_id
                OFFSET 0
            ) p
            WHERE p.state > STATE_SUCCESS
                AND e.parent_id <> ALL (job_ids)
                AND NOT weft._suffices(e.need, of_batch_id, e.parent_id)
                AND (new_batch IS NULL OR weft._resubmitted_as(new_batch, e.parent_id) IS NULL)
            UNION ALL
            SELECT s.child_id
            FROM weft._share_counts(
                of_batch_id,
                ARRAY(SELECT o.job_id FROM of_set o),
                job_ids || ARRAY(
                    SELECT e.parent_id
                    FROM weft.edge e
                    WHERE new_batch IS NOT NULL
                        AND e.batch_id = of_batch_id
                        AND e.child_id = ANY (job_ids)
                        AND e.need < 0
                        AND weft._resubmitted_as(new_batch, e.parent_id) IS NOT NULL
                )
            ) s
            WHERE s.n_failed > s.n_jobs - s.n_needed
            UNION
            SELECT e.child_id
            FROM stuck s
            CROSS JOIN LATERAL (
                SELECT y.* FROM weft.edge y WHERE y.batch_id = of_batch_id AND y.parent_id = s.job_id OFFSET 0
            ) e
            WHERE e.child_id IN (SELECT o.job_id FROM of_set o)
                AND NOT weft._suffices(e.need, of_batch_id, s.job_id)
        )
        SELECT array_agg(s.job_id)
        INTO v_stuck
        FROM stuck s;
        EXIT WHEN v_stuck IS NULL;
        job_ids := ARRAY(SELECT x FROM unnest(job_ids) x EXCEPT SELECT x FROM unnest(v_stuck) x ORDER BY 1);
        -- What is left out may be one too many for a share.
        v_edges := EXISTS (SELECT FROM weft.parent_share s WHERE s.batch_id = of_batch_id);
    END LOOP;
    job_ids := coalesce(job_ids, '{}');
END $$;
