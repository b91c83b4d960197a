-- create_batch: as create_batch_v2, with each field as a parameter. Kept for one release.
-- Called by: the api of an older program.   Safe to repeat: as create_batch_v2.   Locks: as create_batch_v2.
-- Owner: weft_tenant.  Granted to: weft_api.
CREATE OR REPLACE FUNCTION weft.create_batch(
    tenant_id int, user_id int, name text, billing_project text, attributes jsonb, callback text, cancel_after_n_failures int,
    max_running int, trace_id text, idempotency_key text, digest bytea, at timestamptz DEFAULT clock_timestamp()
) RETURNS TABLE (batch_id bigint, is_new boolean) LANGUAGE sql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT * FROM weft.create_batch_v2(
        create_batch.tenant_id, create_batch.user_id,
        jsonb_build_object('name', create_batch.name, 'billing_project', create_batch.billing_project,
            'attributes', create_batch.attributes, 'callback', create_batch.callback,
            'cancel_after_n_failures', create_batch.cancel_after_n_failures, 'gates', weft._running_gate(create_batch.max_running)),
        create_batch.trace_id, create_batch.idempotency_key, create_batch.digest, create_batch.at)
$$;
