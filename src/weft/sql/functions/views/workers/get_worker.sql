-- get_worker: the document of one worker in a pool that serves a tenant (NULL: in any), with who cordoned it
--   when and why, newest first.
-- Plan: as _worker_documents.
-- Raises as _find_worker.
-- Owner: weft_system.
-- Granted to: weft_api.
CREATE OR REPLACE FUNCTION weft.get_worker(tenant_id int, pools_of_tenant_id int, of_name text, of_pool text)
RETURNS jsonb LANGUAGE sql STABLE AS $$
    SELECT d.document || jsonb_build_object(
        'history', (
            SELECT coalesce(
                jsonb_agg(
                    jsonb_build_object('at', c.at, 'state', c.state, 'actor', c.actor, 'reason', c.reason)
                        ORDER BY c.change_id DESC
                ),
                '[]'
            )
            FROM weft.worker_change c
            WHERE c.worker_id = d.worker_id
        )
    )
    FROM weft._find_worker(of_name, of_pool, pools_of_tenant_id) f (worker_id)
    CROSS JOIN LATERAL weft._worker_documents(
        get_worker.tenant_id,
        ARRAY(SELECT max(i.incarnation_id) FROM weft.worker_incarnation i WHERE i.worker_id = f.worker_id)
    ) d
$$;
