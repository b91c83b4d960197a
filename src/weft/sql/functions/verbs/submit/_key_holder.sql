-- _key_holder: the batch of this user that has a key and is in the way of a new one; NULL: none is (ADR 171).
-- The newest batch of the key has it: while it is alive, or waits for its first start, or for within_s from
--   its creation, and not once it
-- is cancelled or deleted. An empty batch waits: its jobs are on their way.
-- Safe to repeat: yes; an idempotency key that was skipped for a batch is so again.
-- For: _create_batch.
-- asked: key, while (waiting, alive), within_s, on_conflict (skip, replace; extend: skip, and within_s begins
--   anew).
-- Locks: unique_key; batch_row; batch (exclusive).
-- Plan: by key.
-- Raises WF201 (idempotency key of another body).
-- Owner: weft_tenant.
CREATE OR REPLACE FUNCTION weft._key_holder(
    of_tenant_id int, of_user_id int, asked jsonb, repeat_key text, digest bytea, at timestamptz
) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    v_has record;
    v_skips boolean := asked ->> 'on_conflict' <> 'replace';
    v_skipped record;
BEGIN
    -- What follows are statements of their own: they see what those did for whom this one has waited.
    PERFORM pg_advisory_xact_lock(7708, hashtext(format('%s %s', of_user_id, asked ->> 'key')));
    IF EXISTS (SELECT FROM weft.batch b WHERE b.user_id = of_user_id AND b.idempotency_key = repeat_key) THEN
        RETURN NULL;  -- a repeat of what made that batch
    END IF;
    SELECT s.batch_id, s.digest
    INTO v_skipped
    FROM weft.skipped_batch s
    WHERE s.user_id = of_user_id AND s.idempotency_key = repeat_key;
    IF FOUND THEN
        IF v_skipped.digest IS DISTINCT FROM _key_holder.digest THEN
            PERFORM weft._fail(
                'WF201',
                'the idempotency key was used for another request',
                format('It was answered with batch b%s.', v_skipped.batch_id),
                'Send the same body again, or choose a new key.'
            );
        END IF;
        RETURN v_skipped.batch_id;
    END IF;
    IF NOT v_skips AND asked ->> 'while' = 'waiting' THEN
        -- It must not be cancelled once it has started: claims pass it by from here on, and those before are
        -- seen below.
        PERFORM pg_advisory_xact_lock(b.batch_id)
        FROM (
            SELECT x.batch_id
            FROM weft.batch x
            WHERE x.user_id = of_user_id AND x.unique_key = asked ->> 'key' AND x.deleted_at IS NULL
            ORDER BY x.batch_id DESC
            LIMIT 1
        ) b;
    END IF;
    SELECT
        b.batch_id,
        c.n_completed = 0 AND c.n_begun = 0 AS waits,
        c.n_open > 0 OR c.n_completed = 0 AS lives,
        coalesce(b.extended_at, b.created_at)
            + make_interval(secs => (asked ->> 'within_s')::float8) > _key_holder.at AS is_young,
        EXISTS (SELECT FROM weft.group_cancel x WHERE x.batch_id = b.batch_id AND x.group_id = 0) AS
            is_cancelled
    INTO v_has
    FROM (
        SELECT x.*
        FROM weft.batch x
        WHERE x.user_id = of_user_id AND x.unique_key = asked ->> 'key' AND x.deleted_at IS NULL
        ORDER BY x.batch_id DESC
        LIMIT 1
    ) b
    CROSS JOIN LATERAL (
        SELECT
            n.n_creating + n.n_running + n.n_blocked AS n_begun,
            n.n_succeeded + n.n_failed + n.n_errored + n.n_cancelled AS n_completed,
            n.n_pending + n.n_ready + n.n_queued + n.n_creating + n.n_running + n.n_blocked AS n_open
        FROM weft._group_counts(ARRAY[b.batch_id], ARRAY[0]) n
    ) c;
    IF v_has.is_cancelled
        OR NOT coalesce(
            CASE asked ->> 'while' WHEN 'waiting' THEN v_has.waits ELSE v_has.lives END OR v_has.is_young,
            false
        )
    THEN
        RETURN NULL;
    END IF;
    IF asked ->> 'on_conflict' = 'extend' THEN
        UPDATE weft.batch b SET extended_at = _key_holder.at WHERE b.batch_id = v_has.batch_id;
    END IF;
    IF v_skips AND repeat_key IS NOT NULL THEN
        INSERT INTO weft.skipped_batch (user_id, idempotency_key, tenant_id, digest, batch_id)
        VALUES (of_user_id, repeat_key, of_tenant_id, _key_holder.digest, v_has.batch_id);
    END IF;
    RETURN v_has.batch_id;
END $$;
