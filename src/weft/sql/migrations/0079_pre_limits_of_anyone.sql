-- Limits of what users, batches and groups use, as of what billing projects spend; in money, or in hours of a resource.
ALTER TABLE weft.spend_limit
    ALTER COLUMN project_id DROP NOT NULL,
    DROP CONSTRAINT spend_limit_project_id_key,
    ADD COLUMN user_id int REFERENCES weft.tenant_user,
    ADD COLUMN batch_id bigint,
    ADD COLUMN group_id int,  -- 0: the whole batch
    -- Core hours, GiB hours, GiB hours of disk, GPU hours.
    ADD COLUMN measure text NOT NULL DEFAULT 'cost' CHECK (measure IN ('cost', 'cpu', 'memory', 'storage', 'gpu')),
    ADD CONSTRAINT limit_is_of_one CHECK (num_nonnulls(project_id, user_id, batch_id) = 1 AND (batch_id IS NULL) = (group_id IS NULL));
ALTER TABLE weft.spend_limit RENAME COLUMN cost_max TO amount_max;
ALTER TABLE weft.spend_limit RENAME COLUMN cost_soft_max TO amount_soft_max;
CREATE UNIQUE INDEX spend_limit_project_idx ON weft.spend_limit (project_id, measure) WHERE project_id IS NOT NULL;
CREATE UNIQUE INDEX spend_limit_user_idx ON weft.spend_limit (user_id, measure) WHERE user_id IS NOT NULL;
CREATE UNIQUE INDEX spend_limit_batch_idx ON weft.spend_limit (batch_id, group_id, measure) WHERE batch_id IS NOT NULL;
CREATE INDEX user_usage_user_idx ON weft.user_usage (user_id);
DO $$
DECLARE
    v_name text; v_text text;
BEGIN
    -- Those of the release before name the columns and the key, and are called until the functions are replaced, a little later.
    FOREACH v_name IN ARRAY ARRAY['_set_limit', 'limit_rounds', '_project_forecasts', '_limit_of', '_pause_batch'] LOOP
        IF to_regproc('weft.' || v_name) IS NOT NULL THEN
            v_text := regexp_replace(pg_get_functiondef(('weft.' || v_name)::regproc),
                '\m(l|x|v_limit|excluded)\.cost_(soft_)?max\M', '\1.amount_\2max', 'g');
            IF v_name = '_set_limit' THEN  -- not the quoted keys of the patch
                v_text := regexp_replace(v_text, '([ (])cost_(soft_)?max(?=,| =)', '\1amount_\2max', 'g');
                v_text := replace(v_text, 'ON CONFLICT (project_id) DO',
                    'ON CONFLICT (project_id, measure) WHERE project_id IS NOT NULL DO');
            END IF;
            EXECUTE v_text;
        END IF;
    END LOOP;
END $$;
