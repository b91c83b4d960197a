-- fold_deltas: move the sums from the stored snapshot to the current one, then settle the groups that
--   completed.
-- Safe to repeat: yes.
-- Locks: as _check_epoch; as _end_sleep; fold; sums; as _count_users; as _count_usage; as _count_minutes; as
--   _count_stored; as _note_foreign_states; as _move_ranges; as _settle_groups; as _add_to_shares; as
--   _deactivate_idle_users.
-- Plan: deltas by xid range, once. They are added up by group first, and these sums by batch: only what is
--   kept by group is counted from the former, for a batch may have a group for each of its jobs. Sums of
--   integers: those of a bigint are numeric, and slow.
-- Each delta counts exactly once, as with PgQ's ticks: if it is visible in the new snapshot and was not in
--   the old one, whatever the order of commits. A reader adds the deltas that the stored snapshot does not
--   see.
-- A job whose machine is being made, or that is offered to a transport, counts in its user's load like one
--   that runs.
-- Returns: how many deltas were folded, and the names of other loops that have work, because a driver that is
--   awake gets no notices; black_holes whenever attempts failed.
-- Owner: weft_system.
-- Granted to: weft_driver.
CREATE OR REPLACE FUNCTION weft.fold_deltas(epoch bigint, at timestamptz DEFAULT clock_timestamp())
RETURNS TABLE (n_deltas bigint, loops text[])
LANGUAGE plpgsql PLAN_ONCE SET enable_seqscan = off SET enable_mergejoin = off AS $$
DECLARE
    v_old pg_snapshot;
    v_new pg_snapshot;
    v_n bigint;
    v_failed boolean;
    v_takes_back boolean;
    v_sums weft.job_delta[];
    v_batch bigint[];
    v_group int[];
    v_grown boolean[];
    v_pool int[];
    v_user int[];
    v_ready bigint[];
    v_ready_m bigint[];
    v_running_m bigint[];
BEGIN
    PERFORM weft._end_sleep();
    SELECT f.upto INTO v_old FROM weft.fold f FOR UPDATE;
    v_new := pg_current_snapshot();
    WITH part AS MATERIALIZED (
        SELECT
            d.batch_id, d.group_id, d.tenant_id, d.shape_id, d.pool_id, d.rate_card_id, d.usage_on,
            count(*) AS n,
            sum(d.n_pending)::int AS n_pending,
            sum(d.n_ready)::int AS n_ready,
            sum(d.n_queued)::int AS n_queued,
            sum(d.n_creating)::int AS n_creating,
            sum(d.n_running)::int AS n_running,
            sum(d.n_blocked)::int AS n_blocked,
            sum(d.n_succeeded)::int AS n_succeeded,
            sum(d.n_failed)::int AS n_failed,
            sum(d.n_errored)::int AS n_errored,
            sum(d.n_cancelled)::int AS n_cancelled,
            max(d.last_ended_at) AS last_ended_at,
            sum(d.usage_ms)::bigint AS usage_ms,
            weft._saturated(sum(d.stored_bytes)) AS stored_bytes,
            bool_or(d.n_running < 0 AND d.n_ready + d.n_failed + d.n_errored > 0) AS failed,
            bool_or(d.n_pending + d.n_ready > 0 AND d.n_failed + d.n_errored + d.n_cancelled < 0) AS retried,
            bool_or(least(d.n_succeeded, d.n_failed, d.n_errored, d.n_cancelled) < 0) AS takes_back
        FROM weft.job_delta d
        WHERE d.xid >= pg_snapshot_xmin(v_old)
            AND d.xid < pg_snapshot_xmax(v_new)
            AND pg_visible_in_snapshot(d.xid, v_new)
            AND NOT pg_visible_in_snapshot(d.xid, v_old)
        GROUP BY 1, 2, 3, 4, 5, 6, 7
    ),
    of_group AS MATERIALIZED (
        SELECT
            d.batch_id,
            a.ancestor_id AS group_id,
            d.tenant_id,
            sum(d.n_pending) AS n_pending,
            sum(d.n_ready) AS n_ready,
            sum(d.n_queued) AS n_queued,
            sum(d.n_creating) AS n_creating,
            sum(d.n_running) AS n_running,
            sum(d.n_blocked) AS n_blocked,
            sum(d.n_succeeded) AS n_succeeded,
            sum(d.n_failed) AS n_failed,
            sum(d.n_errored) AS n_errored,
            sum(d.n_cancelled) AS n_cancelled,
            max(d.last_ended_at) AS last_ended_at,
            bool_or(d.retried) AS retried
        FROM part d
        JOIN weft.group_ancestor a ON a.batch_id = d.batch_id AND a.group_id = d.group_id
        WHERE d.shape_id > 0
        GROUP BY 1, 2, 3
    ),  -- not bytes alone, which come before the first jobs as well
    of_batch AS MATERIALIZED (
        SELECT
            d.batch_id, d.tenant_id, d.shape_id, d.pool_id, d.rate_card_id, d.usage_on,
            sum(d.n)::bigint AS n,
            sum(d.n_pending)::int AS n_pending,
            sum(d.n_ready)::int AS n_ready,
            sum(d.n_queued)::int AS n_queued,
            sum(d.n_creating)::int AS n_creating,
            sum(d.n_running)::int AS n_running,
            sum(d.n_blocked)::int AS n_blocked,
            sum(d.n_succeeded)::int AS n_succeeded,
            sum(d.n_failed)::int AS n_failed,
            sum(d.n_errored)::int AS n_errored,
            sum(d.n_cancelled)::int AS n_cancelled,
            sum(d.usage_ms)::bigint AS usage_ms,
            weft._saturated(sum(d.stored_bytes)) AS stored_bytes,
            bool_or(d.failed) AS failed,
            bool_or(d.takes_back) AS takes_back
        FROM part d
        GROUP BY 1, 2, 3, 4, 5, 6
    ),
    counts AS (
        INSERT INTO weft.group_count AS g (
            batch_id, group_id, tenant_id, n_pending, n_ready, n_queued, n_creating, n_running, n_blocked,
            n_succeeded, n_failed, n_errored, n_cancelled, last_ended_at
        )
        SELECT
            x.batch_id, x.group_id, x.tenant_id, x.n_pending, x.n_ready, x.n_queued, x.n_creating,
            x.n_running, x.n_blocked, x.n_succeeded, x.n_failed, x.n_errored, x.n_cancelled, x.last_ended_at
        FROM of_group x
        ON CONFLICT (batch_id, group_id) DO UPDATE
        SET
            n_pending = g.n_pending + excluded.n_pending,
            n_ready = g.n_ready + excluded.n_ready,
            n_queued = g.n_queued + excluded.n_queued,
            n_creating = g.n_creating + excluded.n_creating,
            n_running = g.n_running + excluded.n_running,
            n_blocked = g.n_blocked + excluded.n_blocked,
            n_succeeded = g.n_succeeded + excluded.n_succeeded,
            n_failed = g.n_failed + excluded.n_failed,
            n_errored = g.n_errored + excluded.n_errored,
            n_cancelled = g.n_cancelled + excluded.n_cancelled,
            last_ended_at = greatest(g.last_ended_at, excluded.last_ended_at)
    ),
    usages AS (
        INSERT INTO weft.group_usage AS g (batch_id, group_id, rate_card_id, shape_id, tenant_id, usage_ms)
        SELECT d.batch_id, a.ancestor_id, d.rate_card_id, d.shape_id, d.tenant_id, sum(d.usage_ms)
        FROM part d
        JOIN weft.group_ancestor a ON a.batch_id = d.batch_id AND a.group_id = d.group_id
        WHERE d.rate_card_id IS NOT NULL
        GROUP BY 1, 2, 3, 4, 5
        ON CONFLICT (batch_id, group_id, rate_card_id, shape_id) DO UPDATE
        SET usage_ms = g.usage_ms + excluded.usage_ms
    )
    SELECT f.*, g.*
    INTO v_n, v_failed, v_takes_back, v_sums, v_batch, v_group, v_grown
    FROM (
        SELECT
            coalesce(sum(d.n), 0),
            bool_or(d.failed),
            bool_or(d.takes_back),
            array_agg(
                ROW(
                    '0', d.batch_id, d.usage_ms, d.tenant_id, 0, d.shape_id, d.pool_id, d.usage_on,
                    d.n_pending, d.n_ready, d.n_queued, d.n_creating, d.n_running, d.n_blocked, d.n_succeeded,
                    d.n_failed, d.n_errored, d.n_cancelled, d.rate_card_id, NULL, d.stored_bytes
                )::weft.job_delta
            )
        FROM of_batch d
    ) f,
        (
            SELECT
                array_agg(x.batch_id),
                array_agg(x.group_id),
                array_agg(
                    x.n_pending + x.n_ready + x.n_queued + x.n_creating + x.n_running + x.n_blocked
                        + x.n_succeeded + x.n_failed + x.n_errored + x.n_cancelled > 0
                        OR x.retried
                )
            FROM of_group x
        ) g;

    UPDATE weft.fold SET upto = v_new;
    IF v_n > 0 THEN
        DELETE FROM weft.job_delta d WHERE d.xid < pg_snapshot_xmin(v_old);
        SELECT
            array_agg(c.pool_id),
            array_agg(c.user_id),
            array_agg(c.n_ready),
            array_agg(c.ready_m),
            array_agg(c.running_m)
        INTO v_pool, v_user, v_ready, v_ready_m, v_running_m
        FROM weft._count_users(v_sums) c;
        PERFORM weft._count_usage(v_sums)
        WHERE EXISTS (SELECT FROM unnest(v_sums) x WHERE x.rate_card_id IS NOT NULL);
        PERFORM weft._count_minutes(v_sums, CASE WHEN v_takes_back THEN v_old END, v_new, fold_deltas.at);
        PERFORM weft._count_stored(v_sums)
        WHERE EXISTS (SELECT FROM unnest(v_sums) x WHERE x.stored_bytes <> 0);
        PERFORM weft._note_foreign_states(v_batch)
        WHERE EXISTS (SELECT FROM weft.batch b WHERE b.foreign_id IS NOT NULL);
        PERFORM weft._move_ranges((SELECT array_agg(DISTINCT x.batch_id) FROM unnest(v_sums) x));
        PERFORM weft._settle_groups(v_batch, v_group, v_grown, fold_deltas.at);
        PERFORM weft._add_to_shares(v_pool, v_user, v_ready, v_ready_m, v_running_m);
        PERFORM weft._deactivate_idle_users();
    END IF;
    RETURN QUERY
    SELECT v_n, weft._loops_with_work() || CASE WHEN v_failed THEN '{black_holes}' ELSE '{}' END::text[];
END $$;
