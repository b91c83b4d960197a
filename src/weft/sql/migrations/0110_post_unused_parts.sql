-- Replaced by the indexes of name_key.
DROP INDEX weft.tenant_lower_idx, weft.tenant_user_lower_idx, weft.billing_project_lower_idx;
-- Of a function that earlier programs of this release had; the contract step would drop that only later.
DROP TYPE weft.usage_part CASCADE;
-- A project that an earlier program deleted may still pause at its limits. Nobody can raise them, so what waits for one is cancelled.
UPDATE weft.spend_limit l SET on_limit = 'cancel', version = l.version + 1
FROM weft.billing_project p WHERE p.project_id = l.project_id AND p.deleted_at IS NOT NULL AND l.on_limit = 'pause';
SELECT pg_notify('driver', 'spending');
