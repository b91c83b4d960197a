-- list_events: as list_events_v2, without events that have no batch; kept for one release.
-- Called by: the api of the previous release.   Safe to repeat: yes.   Locks: none.   Plan: as list_events_v2.
-- Owner: weft_tenant.  Granted to: weft_api.
CREATE OR REPLACE FUNCTION weft.list_events(tenant_id int, after_xid bigint, after_event bigint, of_batch_id bigint, limit_rows int)
RETURNS TABLE (xid bigint, event_id bigint, at timestamptz, kind text, batch_id bigint, from_state smallint, to_state smallint, jobs int[],
    groups int[], trace_id text)
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
    SELECT e.xid, e.event_id, e.at, e.kind, e.batch_id, e.from_state, e.to_state, e.jobs, e.groups, e.trace_id
    FROM weft.list_events_v2(list_events.tenant_id, after_xid, after_event, of_batch_id, limit_rows) e WHERE e.batch_id > 0
$$;
