-- _make_visible: commit an update of which everything was added and checked: its jobs are counted and
--   offered.
-- Safe to repeat: no.
-- For: commit_update; submit for the first update of a new batch, which nobody else sees.
-- Locks: update (by the caller); job (those with parents in earlier updates); empty_batch; as _after_visible
--   (the same rows); as _pass_gates; as _announce; as _give_to_sleeper.
-- Plan: sums over bunches, not over jobs; only bunches with edges to earlier updates are walked.
-- Raises what _after_visible raises.
-- Owner: weft_tenant.
CREATE OR REPLACE FUNCTION weft._make_visible(
    of_update weft.batch_update, is_new_batch boolean, at timestamptz
) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    v_batch record;
    v_sets int[];
    v_pool int;
    v_done boolean;
BEGIN
    SELECT
        b.user_id, b.queue_id, b.gated, b.gate_set_id, b.lifecycle_id, q.pool_id,
        ARRAY(
            SELECT DISTINCT s.lane_id
            FROM weft.bunch_count c
            JOIN weft.shape s
            USING (shape_id)
            WHERE c.batch_id = of_update.batch_id AND c.update_id = of_update.update_id
        ) AS lanes,
        x.is_staged,
        x.is_ranged
    INTO v_batch
    FROM weft.batch b
    JOIN weft.queue q
    USING (queue_id)
    CROSS JOIN LATERAL (
        SELECT bool_or(y.has_cross OR y.n_listed > 0) AS is_staged, bool_or(y.n_ranged > 0) AS is_ranged
        FROM weft.bunch y
        WHERE y.batch_id = of_update.batch_id AND y.update_id = of_update.update_id
    ) x
    WHERE b.batch_id = of_update.batch_id;
    v_pool := CASE v_batch.lanes[1]
        WHEN 0 THEN v_batch.pool_id
        ELSE weft._lane_pool(v_batch.lanes[1], v_batch.pool_id)
    END;
    IF of_update.committed_at IS NULL THEN
        UPDATE weft.batch_update u
        SET committed_at = _make_visible.at
        WHERE u.batch_id = of_update.batch_id AND u.update_id = of_update.update_id;
    END IF;
    INSERT INTO weft.job_delta (
        tenant_id, batch_id, group_id, shape_id, pool_id, n_pending, n_ready, stored_bytes
    )
    SELECT
        of_update.tenant_id,
        c.batch_id,
        c.group_id,
        c.shape_id,
        CASE
            WHEN v_batch.lanes = '{0}' THEN v_batch.pool_id
            ELSE weft._shape_pool(c.shape_id, v_batch.pool_id)
        END,
        sum(c.n_pending),
        sum(c.n_ready),
        CASE
            WHEN row_number() OVER () = 1 THEN (SELECT x.n_bytes FROM weft._spec_bytes(of_update) x)
            ELSE 0
        END
    FROM weft.bunch_count c
    WHERE c.batch_id = of_update.batch_id AND c.update_id = of_update.update_id
    GROUP BY c.batch_id, c.group_id, c.shape_id;

    IF v_batch.is_staged THEN
        v_sets := ARRAY(
            SELECT unnest(
                weft._unstage(
                    x.batch_id, x.first_job, x.first_job + x.n_jobs - 1, v_batch.pool_id, _make_visible.at
                )
            )
            FROM (
                SELECT y.*
                FROM weft.bunch y
                WHERE y.batch_id = of_update.batch_id
                    AND y.update_id = of_update.update_id
                    AND (y.has_cross OR y.n_listed > 0)
                ORDER BY y.first_job
            ) x
        );
    END IF;
    IF of_update.n_jobs = 0 AND is_new_batch THEN
        INSERT INTO weft.empty_batch (batch_id, tenant_id, created_at)
        VALUES (of_update.batch_id, of_update.tenant_id, _make_visible.at);
    ELSIF of_update.n_jobs > 0 AND NOT is_new_batch THEN
        DELETE FROM weft.empty_batch e WHERE e.batch_id = of_update.batch_id;
    END IF;
    IF cardinality(v_batch.lanes) <> 1 THEN
        PERFORM weft._add_update_ranges(
            of_update.batch_id, of_update.update_id, v_batch.pool_id, v_batch.user_id
        );
    ELSIF v_batch.is_ranged THEN
        INSERT INTO weft.runnable (
            gate_set_id, pool_id, user_id, tenant_id, batch_id, update_id, lane_id, first_job, last_job,
            low_job
        )
        VALUES (
            v_batch.gate_set_id, v_pool, v_batch.user_id, of_update.tenant_id, of_update.batch_id,
            of_update.update_id, v_batch.lanes[1], of_update.first_job,
            of_update.first_job + of_update.n_jobs - 1,
            of_update.first_job
        );
    END IF;
    v_done := weft._after_visible(of_update, is_new_batch, v_batch.lifecycle_id, _make_visible.at) IS NULL;
    INSERT INTO weft.event (at, tenant_id, batch_id, kind, trace_id)
    VALUES (
        _make_visible.at, of_update.tenant_id, of_update.batch_id, 'update.committed', of_update.trace_id
    );
    IF v_batch.gated THEN
        -- Fill the first places here, so that small limits start at once; the driver does the rest.
        PERFORM weft._pass_gates(weft._set_gates(v_sets || v_batch.gate_set_id), true, false, 200);
    END IF;
    IF of_update.n_jobs BETWEEN 1 AND 4 AND cardinality(v_batch.lanes) = 1 THEN
        v_done := weft._announce(ARRAY[v_pool], ARRAY[v_batch.user_id], v_batch.lanes, false) IS NULL;
        v_done := weft._give_to_sleeper(v_pool, v_batch.lanes[1]) IS NULL;
        RETURN;
    END IF;
    PERFORM weft._announce(
        array_agg(weft._lane_pool(l, v_batch.pool_id)), array_agg(v_batch.user_id), array_agg(l)
    )
    FROM unnest(CASE WHEN v_batch.lanes = '{}' THEN ARRAY[NULL::int] ELSE v_batch.lanes END) l;
END $$;
