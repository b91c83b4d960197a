-- _copy_parts: copy the next groups of a batch to another, with their numbers; when all are there, the next
--   parts of payloads.
-- Safe to repeat: yes, `copied` says how far it got.
-- Locks: none but its rows, of a batch that nobody else knows.
-- Plan: groups and payloads by key; as _at_store, if there is something
--   to check (checks), which the caller has locked.
-- Raises WF134 (as _at_store).
-- Hidden sets are still being filled. Nothing of the new batch is cancelled or held.
-- Returns: what is to be added to the arguments of the operation; NULL: nothing is left.
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._copy_parts(
    from_batch bigint, to_batch bigint, arguments jsonb, limit_rows int, checks boolean, OUT copied jsonb
) LANGUAGE plpgsql AS $$
DECLARE
    v_parts tid[];
BEGIN
    WITH page AS MATERIALIZED (
        SELECT g.*
        FROM weft.job_group g
        LEFT JOIN weft.batch_update u ON u.batch_id = g.batch_id AND u.update_id = g.update_id
        WHERE g.batch_id = from_batch
            AND g.group_id > coalesce((arguments ->> 'last_group')::int, 0)
            AND NOT g.hidden
            AND (g.update_id IS NULL OR u.committed_at IS NOT NULL)
        ORDER BY g.group_id
        LIMIT limit_rows
    ),
    added AS (
        INSERT INTO weft.job_group (
            batch_id, group_id, tenant_id, parent_id, name, path, depth, attributes, callback,
            cancel_after_n_failures, created_at, is_set
        )
        SELECT
            to_batch, p.group_id, p.tenant_id, p.parent_id, p.name, p.path, p.depth, p.attributes, p.callback,
            p.cancel_after_n_failures, clock_timestamp(), p.is_set
        FROM page p
    ),
    ancestors AS (
        INSERT INTO weft.group_ancestor (batch_id, group_id, ancestor_id, tenant_id)
        SELECT to_batch, a.group_id, a.ancestor_id, a.tenant_id
        FROM page p
        CROSS JOIN LATERAL (
            SELECT x.*
            FROM weft.group_ancestor x
            WHERE x.batch_id = from_batch AND x.group_id = p.group_id
            OFFSET 0
        ) a
    ),
    counts AS (
        INSERT INTO weft.failure_count (batch_id, group_id, tenant_id, n_failures_max)
        SELECT to_batch, p.group_id, p.tenant_id, p.cancel_after_n_failures
        FROM page p
        WHERE p.cancel_after_n_failures IS NOT NULL
    )
    SELECT jsonb_build_object('last_group', max(p.group_id))
    INTO copied
    FROM page p
    HAVING count(*) > 0;
    IF copied IS NOT NULL THEN
        RETURN;
    END IF;
    v_parts := ARRAY(
        SELECT p.ctid
        FROM weft.batch_payload p
        WHERE p.batch_id = from_batch
            AND (p.digest, p.part) > (
                coalesce(decode(arguments ->> 'last_digest', 'hex'), ''),
                coalesce((arguments ->> 'last_part')::int, 0)
            )
        ORDER BY p.digest, p.part
        LIMIT greatest(1, limit_rows / 500)
    );
    IF checks THEN
        PERFORM weft._at_store(
            to_batch,
            (SELECT sum(octet_length(p.body)) FROM weft.batch_payload p WHERE p.ctid = ANY (v_parts))
        );
    END IF;
    WITH added AS (
        INSERT INTO weft.batch_payload (batch_id, digest, part, tenant_id, n_bytes, body)
        SELECT to_batch, p.digest, p.part, p.tenant_id, p.n_bytes, p.body
        FROM weft.batch_payload p
        WHERE p.ctid = ANY (v_parts)
        RETURNING tenant_id, digest, part, octet_length(body) AS n_bytes
    ),
    counted AS (
        INSERT INTO weft.job_delta (tenant_id, batch_id, group_id, shape_id, pool_id, stored_bytes)
        SELECT a.tenant_id, to_batch, 0, 0, 0, sum(a.n_bytes)
        FROM added a
        GROUP BY 1
    )
    SELECT jsonb_build_object('last_digest', encode(a.digest, 'hex'), 'last_part', a.part)
    INTO copied
    FROM added a
    ORDER BY a.digest DESC, a.part DESC
    LIMIT 1;
END $$;
