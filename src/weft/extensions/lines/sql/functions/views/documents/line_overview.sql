-- line_overview: all of overview_lines, for programs of the previous release.
-- Safe to repeat: yes, it only reads.   Returns: as it does.   Owner: weft_tenant.  Granted to: weft_api.
CREATE OR REPLACE FUNCTION weft.line_overview(tenant_id int, limit_rows int) RETURNS jsonb LANGUAGE sql AS $$
SELECT weft.overview_lines(line_overview.tenant_id, line_overview.limit_rows, true) $$;
