-- _at_commit: refuse to commit an update whose jobs would be too many for a queue or a quota, or which makes
--   one batch too many.
-- For: submit, commit_update, create_batch, if _before_submit says so, which has locked what is counted here.
-- Safe to repeat: yes, it only reads.
-- Plan: sums over bunches; as _queue_counts; as _open_work; as _check_bytes.
-- A batch without jobs comes as an update of none.
-- Raises WF113 (queue is full), WF134 (quota).
-- checks: whether there are quotas.
-- Owner: weft_tenant.
CREATE OR REPLACE FUNCTION weft._at_commit(of_tenant_id int, of_update weft.batch_update, checks boolean)
RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    v_full record;
    v_user int;
    v_over record;
BEGIN
    SELECT q.name, q.max_waiting, n.n, c.n_waiting AS n_waiting
    INTO v_full
    FROM (
        SELECT coalesce(s.countables ->> 'queue', 'default') AS queue, sum(b.n_pending + b.n_ready) AS n
        FROM weft.bunch_count b
        JOIN weft.shape s
        USING (shape_id)
        WHERE b.batch_id = of_update.batch_id AND b.update_id = of_update.update_id
        GROUP BY 1
    ) n
    JOIN weft.queue q ON q.tenant_id = of_tenant_id AND q.name = n.queue AND q.max_waiting IS NOT NULL
    CROSS JOIN LATERAL (
        SELECT coalesce(sum(x.n_waiting), 0) AS n_waiting
        FROM weft._queue_counts(of_tenant_id, ARRAY[q.name]) x
    ) c
    WHERE n.n + c.n_waiting > q.max_waiting
    ORDER BY q.name
    LIMIT 1;
    IF FOUND THEN
        PERFORM weft._fail(
            'WF113',
            format('queue "%s" is full', v_full.name),
            format(
                '%s jobs wait there and %s would come; it takes at most %s.',
                v_full.n_waiting,
                v_full.n,
                v_full.max_waiting
            ),
            'Submit again when jobs have started, or name another queue.'
        );
    END IF;
    IF NOT checks THEN
        RETURN;
    END IF;
    SELECT b.user_id INTO v_user FROM weft.batch b WHERE b.batch_id = of_update.batch_id;
    WITH used AS (
        SELECT
            count(*) AS n_batches,
            coalesce(sum(w.n_jobs), 0) AS n_jobs,
            count(*) FILTER (WHERE w.user_id = v_user) AS user_batches,
            coalesce(sum(w.n_jobs) FILTER (WHERE w.user_id = v_user), 0) AS user_jobs,
            -- A batch that counts already is no further one.
            CASE WHEN bool_or(w.batch_id = of_update.batch_id) THEN 0 ELSE 1 END AS new_batches
        FROM weft._open_work(of_tenant_id) w
    ),
    limits AS (
        SELECT false AS is_user, q.jobs_max, q.batches_max
        FROM weft.quota q
        WHERE q.tenant_id = of_tenant_id AND q.user_id = -1
        UNION ALL
        SELECT true, q.jobs_max, q.batches_max
        FROM weft._user_quotas(of_tenant_id, v_user) q
    )
    SELECT x.*
    INTO v_over
    FROM (
        SELECT
            l.is_user,
            'jobs' AS what,
            l.jobs_max AS most,
            CASE WHEN l.is_user THEN u.user_jobs ELSE u.n_jobs END AS n,
            of_update.n_jobs AS more
        FROM limits l, used u
        UNION ALL
        SELECT
            l.is_user,
            'batches',
            l.batches_max,
            CASE WHEN l.is_user THEN u.user_batches ELSE u.n_batches END,
            u.new_batches
        FROM limits l, used u
    ) x
    WHERE x.n + x.more > x.most
        AND x.more > 0  -- NULL: no limit
    ORDER BY x.is_user DESC, x.what DESC
    LIMIT 1;
    IF FOUND THEN
        PERFORM weft._fail(
            'WF134',
            format(
                '%s would have more %s than the quota allows',
                weft._quota_owner(of_tenant_id, CASE WHEN v_over.is_user THEN v_user END),
                CASE v_over.what WHEN 'jobs' THEN 'jobs' ELSE 'open batches' END
            ),
            format(
                CASE v_over.what
                    WHEN 'jobs' THEN '%s jobs have not ended and %s would come; at most %s are allowed.'
                    ELSE
                        '%s batches have jobs that have not ended, or none yet, and %s would come; at most %s are allowed.'
                END,
                v_over.n,
                v_over.more,
                v_over.most
            ),
            CASE v_over.what
                WHEN 'jobs' THEN 'Submit again when jobs have ended, or submit fewer at a time. '
                ELSE
                    'Submit again when batches have ended, or cancel those that get no jobs (`weft cancel`). '
            END || '`weft quota ls` shows what is used.'
        );
    END IF;
    PERFORM weft._check_bytes(of_tenant_id, v_user, (SELECT x.n_bytes FROM weft._spec_bytes(of_update) x));
END $$;
