-- _completed_at: when a group was complete: at the last end of its jobs, but not before it was there, as a set of jobs that have ended.
-- Called by: _settle_groups, _group_documents.   Safe to repeat: yes.
-- `recorded`: what is known of ends that were counted before deltas carried them.
-- Owner: weft_system.  Granted to: weft_tenant.
CREATE OR REPLACE FUNCTION weft._completed_at(created_at timestamptz, last_ended_at timestamptz, recorded timestamptz) RETURNS timestamptz
    LANGUAGE sql IMMUTABLE
AS $$ SELECT CASE WHEN last_ended_at IS NULL THEN recorded ELSE greatest(created_at, last_ended_at) END $$;
