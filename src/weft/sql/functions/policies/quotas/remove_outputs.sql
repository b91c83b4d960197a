-- remove_outputs: remove the output and files of complete batches that are older than their tenant, they
--   themselves or all of their jobs say, and of the oldest ones of a tenant that stores more than it says.
-- Safe to repeat: yes.
-- Locks: as _check_epoch; tenant; as _remove_output (nobody else).
-- Plan: tenants with a limit, which are few; completions of each in their order, from where the last call
--   ended; terms by their index; as _stored_bytes.
-- Returns: how many batches; 0: nothing is left to do now.
-- Owner: weft_system.
-- Granted to: weft_driver.
CREATE OR REPLACE FUNCTION weft.remove_outputs(
    epoch bigint, limit_batches int, at timestamptz DEFAULT clock_timestamp()
) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    v_tenant record;
    v_batch record;
    v_excess bigint;
    v_n bigint := 0;
    v_why text;
BEGIN
    FOR v_batch IN
        SELECT t.batch_id, t.keep_s
        FROM weft.output_term t
        WHERE t.keep_s IS NOT NULL
            AND t.removed_at IS NULL
            AND (
                t.n_jobs IS NULL
                    OR t.n_jobs >= (  -- of open updates, too: their jobs may have said it already
                        SELECT sum(u.n_jobs) FROM weft.batch_update u WHERE u.batch_id = t.batch_id
                    )
            )
            AND (
                SELECT max(c.completed_at)
                FROM weft.group_completion c
                WHERE c.batch_id = t.batch_id AND c.group_id = 0
            ) < remove_outputs.at - t.keep_s * interval '1 second'
        ORDER BY t.batch_id
        LIMIT limit_batches
    LOOP
        v_n := v_n + (
            weft._remove_output(
                v_batch.batch_id, format('It was to be kept for %s s.', v_batch.keep_s), remove_outputs.at
            ) IS NOT NULL
        )::int;
    END LOOP;
    FOR v_tenant IN
        SELECT
            t.tenant_id,
            t.output_keep_s,
            t.output_keep_bytes,
            coalesce(t.output_removed_to, '-infinity') AS removed_to,
            coalesce((SELECT s.n_bytes FROM weft._stored_bytes(t.tenant_id) s WHERE s.user_id = 0), 0) AS
                n_bytes
        FROM weft.tenant t
        WHERE t.output_keep_s > 0 OR t.output_keep_bytes > 0
        ORDER BY t.tenant_id
    LOOP
        v_excess := CASE
            WHEN v_tenant.output_keep_bytes > 0 THEN v_tenant.n_bytes - v_tenant.output_keep_bytes
            ELSE 0
        END;
        FOR v_batch IN
            SELECT c.batch_id, c.completed_at
            FROM weft.group_completion c
            WHERE c.tenant_id = v_tenant.tenant_id AND c.group_id = 0 AND c.completed_at > v_tenant.removed_to
            ORDER BY c.completed_at, c.batch_id
            LIMIT limit_batches
        LOOP
            v_why := CASE
                WHEN v_tenant.output_keep_s > 0
                    AND v_batch.completed_at < remove_outputs.at - v_tenant.output_keep_s
                        * interval '1 second'
                    THEN format(
                        'Its tenant keeps output for %s s after the end of a batch.', v_tenant.output_keep_s
                    )
                WHEN v_excess > 0
                    THEN format(
                        'Its tenant keeps %s bytes, and the oldest output goes.', v_tenant.output_keep_bytes
                    )
            END;
            EXIT WHEN v_why IS NULL;
            IF NOT EXISTS (
                SELECT
                FROM weft.group_completion c
                WHERE c.batch_id = v_batch.batch_id
                    AND c.group_id = 0
                    AND c.completed_at > v_batch.completed_at
            ) THEN
                v_excess := v_excess
                    - coalesce(weft._remove_output(v_batch.batch_id, v_why, remove_outputs.at), 0);
            END IF;
            UPDATE weft.tenant t
            SET output_removed_to = v_batch.completed_at
            WHERE t.tenant_id = v_tenant.tenant_id;
            v_n := v_n + 1;
        END LOOP;
    END LOOP;
    RETURN v_n;
END $$;
