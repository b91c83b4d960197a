-- _remove_logins: forget the secrets that were made of logins in addresses of setups (ADR 148) and that
--   nothing names any more: no source or sink that is there, and no sink that may still send. So what one
--   removal has to leave goes with a later one.
-- Safe to repeat: yes.
-- Locks: setups (by the caller); secret.
-- Plan: the sources and sinks of a tenant, which are few; batches and deliveries by sink.
-- Owner: weft_tenant.
CREATE OR REPLACE FUNCTION weft._remove_logins(of_tenant_id int) RETURNS void LANGUAGE sql AS $$
    WITH part AS (
        SELECT s.user_id, s.setup, s.options::text AS text, s.ended_at IS NULL AS is_used
        FROM weft.source s
        WHERE s.tenant_id = of_tenant_id
        UNION ALL
        SELECT
            s.user_id,
            s.setup,
            s.document::text,
            s.ended_at IS NULL
                OR EXISTS (
                    SELECT
                    FROM weft.callback_delivery d
                    WHERE d.sink_id = s.sink_id
                        AND d.delivered_at IS NULL
                        AND d.held IS DISTINCT FROM 'dropped'
                )
                OR EXISTS (
                    SELECT
                    FROM (
                        SELECT x.batch_id, x.deleted_at
                        FROM weft.batch x
                        WHERE x.sink_id = s.sink_id
                        UNION ALL
                        SELECT x.batch_id, x.deleted_at
                        FROM weft.batch x
                        WHERE x.tenant_id = of_tenant_id AND x.more_sinks @> ARRAY[s.sink_id]
                    ) b,
                        weft._group_counts(ARRAY[b.batch_id], ARRAY[0]) n
                    WHERE b.deleted_at IS NULL
                        AND n.n_pending + n.n_ready + n.n_queued + n.n_creating + n.n_running
                            + n.n_blocked > 0
                )
        FROM weft.sink s
        WHERE s.tenant_id = of_tenant_id
    ),
    named AS (SELECT p.*, m[1] AS name FROM part p, regexp_matches(p.text, '\$\{secret\.([\w.-]+)\}', 'g') m)
    DELETE FROM weft.secret s
    WHERE s.tenant_id = of_tenant_id
        -- As core/lines/logins.py names them: of long names only a digest is left.
        AND EXISTS (
            SELECT
            FROM named n
            WHERE n.user_id = s.user_id
                AND n.name = s.name
                AND (
                    starts_with(s.name, n.setup || '.source.')
                        OR starts_with(s.name, n.setup || '.sink.')
                        OR s.name ~ '^(source|sink)-[0-9a-f]{40}$'
                )
        )
        AND NOT EXISTS (SELECT FROM named n WHERE n.user_id = s.user_id AND n.name = s.name AND n.is_used)
$$;
