-- _set_limit: change what a patch names of the limit of a billing project, a user or a group, in one measure;
--   the driver hears of it and acts at once.
-- Safe to repeat: yes.
-- Locks: spend_limit.
-- Plan: by key.
-- Owner: weft_tenant.
-- of: the tenant, the measure, and the project, the user, or the batch and the group.
-- patch: any of amount_max, amount_soft_max, until (null: none) and on_limit; a new amount_max has no end but
--   its own.
-- Returns: the number of the limit.
-- Raises WF140 (one of the two amounts is given, and the soft one is above the other).
CREATE OR REPLACE FUNCTION weft._set_limit(of weft.spend_limit, patch jsonb) RETURNS int
LANGUAGE plpgsql AS $$
DECLARE
    v_limit weft.spend_limit;
BEGIN
    -- Another one may add it between the two statements.
    WHILE v_limit.limit_id IS NULL LOOP
        UPDATE weft.spend_limit l
        SET
            version = l.version + 1,
            amount_max =
                CASE WHEN patch ? 'amount_max' THEN (patch ->> 'amount_max')::numeric ELSE l.amount_max END,
            amount_soft_max = CASE
                WHEN patch ? 'amount_soft_max' THEN (patch ->> 'amount_soft_max')::numeric
                ELSE l.amount_soft_max
            END,
            on_limit = coalesce(patch ->> 'on_limit', l.on_limit),
            until = CASE
                WHEN patch ?| ARRAY['amount_max', 'until'] THEN (patch ->> 'until')::timestamptz
                ELSE l.until
            END
        WHERE l.measure = of.measure
            AND (
                l.project_id = of.project_id
                    OR l.user_id = of.user_id
                    OR l.batch_id = of.batch_id AND l.group_id = of.group_id
            )
        RETURNING l.*
        INTO v_limit;
        IF v_limit.limit_id IS NULL THEN
            INSERT INTO weft.spend_limit AS l (
                tenant_id, project_id, user_id, batch_id, group_id, measure, amount_max, amount_soft_max,
                on_limit, until
            )
            VALUES (
                of.tenant_id, of.project_id, of.user_id, of.batch_id, of.group_id, of.measure,
                (patch ->> 'amount_max')::numeric,
                (patch ->> 'amount_soft_max')::numeric,
                coalesce(patch ->> 'on_limit', 'pause'),
                (patch ->> 'until')::timestamptz
            )
            ON CONFLICT DO NOTHING
            RETURNING l.*
            INTO v_limit;
        END IF;
    END LOOP;
    IF patch ?| ARRAY['amount_max', 'amount_soft_max'] AND v_limit.amount_soft_max > v_limit.amount_max THEN
        PERFORM weft._fail(
            'WF140',
            format(
                'the soft limit %s is above the limit %s',
                trim_scale(v_limit.amount_soft_max),
                trim_scale(v_limit.amount_max)
            ),
            'The soft limit slows jobs down before the limit stops them.',
            format(
                'Set the soft limit to at most %s, or the limit to at least %s; one change may set both.',
                trim_scale(v_limit.amount_max),
                trim_scale(v_limit.amount_soft_max)
            )
        );
    END IF;
    PERFORM pg_notify('driver', 'spending');
    IF v_limit.until IS NOT NULL THEN
        PERFORM pg_notify('driver', 'terms');
    END IF;
    RETURN v_limit.limit_id;
END $$;
