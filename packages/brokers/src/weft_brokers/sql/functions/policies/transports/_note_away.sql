-- _note_away: one condition for each tenant whose jobs wait for a transport that is away, with the batches of
--   these jobs; or, once it answers, the end of these conditions.
-- Safe to repeat: yes.
-- Locks: condition (in the order of what they test); condition_batch (each batch has one condition of a
--   transport); as _announce.
-- Plan: as _waiting_for, only while a transport is away; batches and conditions by key.
-- error: NULL: it answers. Then, and for a tenant none of whose jobs waits, due_conditions forgets the
--   condition; so it does if nobody looks for a minute.
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._note_away(of_transport text, error text, at timestamptz) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
    v_tenants int[];
    v_opened boolean;
BEGIN
    IF _note_away.error IS NOT NULL THEN
        WITH waiting AS MATERIALIZED (
            SELECT w.tenant_id, w.batch_id, b.user_id, b.project_id, w.n
            FROM weft._waiting_for(of_transport) w
            CROSS JOIN LATERAL (
                SELECT x.* FROM weft.batch x WHERE x.batch_id = w.batch_id AND x.deleted_at IS NULL OFFSET 0
            ) b
        ),
        new AS (
            INSERT INTO weft.condition AS c (
                tenant_id, kind, tester, parameters, digest, since, next_test_at, tested_at, passed, message,
                transport
            )
            SELECT DISTINCT
                w.tenant_id,
                'transport_unavailable',
                'transport',
                jsonb_build_object('transport', of_transport),
                'transport ' || of_transport,
                s.away_since,
                _note_away.at + interval '1 min',
                _note_away.at, false, left(_note_away.error, 300), of_transport
            FROM waiting w
            JOIN weft.transport_state s ON s.transport = of_transport
            WHERE w.n > 0
            ORDER BY w.tenant_id
            ON CONFLICT (tenant_id, digest) DO UPDATE
            SET
                next_test_at = excluded.next_test_at,
                tested_at = excluded.tested_at,
                message = excluded.message
            RETURNING c.*, c.xmax = 0 AS is_new
        ),
        noted AS (
            INSERT INTO weft.condition_batch AS b (
                batch_id, condition_id, tenant_id, owner_id, project_id, n_waiting
            )
            SELECT w.batch_id, n.condition_id, n.tenant_id, w.user_id, w.project_id, w.n
            FROM waiting w
            JOIN new n
            USING (tenant_id)
            WHERE w.n > 0
            ORDER BY 2, 1
            ON CONFLICT (batch_id, condition_id) DO UPDATE
            SET n_waiting = excluded.n_waiting
            WHERE b.n_waiting <> excluded.n_waiting
        ),
        gone AS (
            DELETE FROM weft.condition_batch b
            USING new n
            WHERE b.condition_id = n.condition_id
                AND NOT EXISTS (SELECT FROM waiting w WHERE w.batch_id = b.batch_id AND w.n > 0)
        ),
        eve AS (
            INSERT INTO weft.event (at, tenant_id, batch_id, kind, detail)
            SELECT
                _note_away.at,
                n.tenant_id,
                0,
                'condition.opened',
                jsonb_build_object(
                    'condition_id', n.condition_id,
                    'condition', n.kind,
                    'tester', n.tester,
                    'parameters', n.parameters,
                    'since', n.since,
                    'next_test_at', n.next_test_at,
                    'n_jobs', (SELECT sum(w.n) FROM waiting w WHERE w.tenant_id = n.tenant_id),
                    'batches', (
                        SELECT jsonb_object_agg(w.batch_id, w.n)
                        FROM waiting w
                        WHERE w.tenant_id = n.tenant_id AND w.n > 0
                    )
                )
            FROM new n
            WHERE n.is_new
        )
        SELECT array_agg(n.tenant_id), bool_or(n.is_new)
        INTO v_tenants, v_opened
        FROM new n;
    END IF;
    UPDATE weft.condition c
    SET next_test_at = _note_away.at
    WHERE c.transport = of_transport
        AND c.tenant_id <> ALL (coalesce(v_tenants, '{}'))
        AND c.next_test_at > _note_away.at;
    IF FOUND THEN
        PERFORM pg_notify('driver', 'conditions');
    END IF;
    IF v_opened THEN
        PERFORM weft._announce();
    END IF;
END $$;
