-- Each store of files was set by a user of its tenant, whose secret opens it.
SELECT f.tenant_id, f.name, f.set_by
FROM weft.file_store f
WHERE NOT EXISTS (SELECT FROM weft.tenant_user u WHERE u.user_id = f.set_by AND u.tenant_id = f.tenant_id)
