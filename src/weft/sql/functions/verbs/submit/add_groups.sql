-- add_groups: add groups to an open update.
-- Safe to repeat: yes, a group that already exists under its number is kept.
-- Returns: whether any of them is new.
-- Locks: as _open_update; as _add_tree_group.
-- Plan: by key, one group after the other, parents first.
-- Numbers: group and parent are relative to the update, from 1; 0 is the root; a negative parent is an
--   earlier group. A set has no parent.
-- Raises WF103 (parent group), WF201 (key used with another body), WF203 (committed), WF207 (number outside
--   the update), WF209 (path taken), WF211 (too deep), WF215 (another group has the number).
-- Owner: weft_tenant.
-- Granted to: weft_api.
CREATE OR REPLACE FUNCTION weft.add_groups(
    tenant_id int,
    batch_id bigint,
    update_id int,
    group_ids int[],
    parent_ids int[],
    names text[],
    attributes jsonb[],
    cancel_afters int[],
    callbacks text[],
    depth_max int,
    are_sets boolean[] DEFAULT '{}',
    at timestamptz DEFAULT clock_timestamp(),
    idempotency_key text DEFAULT NULL,
    digest bytea DEFAULT NULL
) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
    v_update weft.batch_update;
    v_new record;
    v_id int;
    v_parent_id int;
    v_old record;
    v_is_new boolean := false;
BEGIN
    v_update := weft._open_update(add_groups.batch_id, add_groups.update_id);
    IF add_groups.idempotency_key IS NOT NULL THEN
        INSERT INTO weft.group_bunch (batch_id, update_id, idempotency_key, tenant_id, digest)
        VALUES (
            add_groups.batch_id,
            add_groups.update_id,
            add_groups.idempotency_key,
            add_groups.tenant_id,
            add_groups.digest
        )
        ON CONFLICT DO NOTHING;
        IF EXISTS (
            SELECT
            FROM weft.group_bunch x
            WHERE x.batch_id = add_groups.batch_id
                AND x.update_id = add_groups.update_id
                AND x.idempotency_key = add_groups.idempotency_key
                AND x.digest <> add_groups.digest
        ) THEN
            PERFORM weft._fail(
                'WF201',
                'the idempotency key was used for another request',
                format(
                    'It added groups to update %s of batch b%s from a different body.',
                    v_update.update_id,
                    v_update.batch_id
                ),
                'Send the same body again, or choose a new key.'
            );
        END IF;
    END IF;
    FOR v_new IN
        SELECT *
        FROM unnest(group_ids, parent_ids, names, attributes, cancel_afters, callbacks, are_sets) t (
            g, p, name, attributes, cancel_after, callback, is_set
        )
        ORDER BY t.g
    LOOP
        IF v_new.g < 1 OR v_new.g > v_update.n_groups OR v_new.p >= v_new.g THEN
            PERFORM weft._fail(
                'WF207',
                format('group %s does not fit into its update', v_new.g),
                format(
                    'The update reserved %s groups, and a parent''s number must be below its child''s (here it is %s).',
                    v_update.n_groups,
                    v_new.p
                ),
                'Number the groups of an update from 1 on.'
            );
        END IF;
        v_id := v_update.first_group - 1 + v_new.g;
        v_parent_id := CASE WHEN v_new.p > 0 THEN v_update.first_group - 1 + v_new.p ELSE -v_new.p END;
        SELECT
            g.*,
            row(g.name, g.parent_id, g.is_set, g.attributes, g.callback, g.cancel_after_n_failures) IS NOT
                    DISTINCT FROM row(
                        v_new.name,
                        CASE WHEN NOT coalesce(v_new.is_set, false) THEN v_parent_id END,
                        coalesce(v_new.is_set, false),
                        coalesce(v_new.attributes, '{}'),
                        v_new.callback,
                        v_new.cancel_after
                    ) AS is_same
        INTO v_old
        FROM weft.job_group g
        WHERE g.batch_id = add_groups.batch_id AND g.group_id = v_id;
        IF FOUND THEN
            -- A group may have been changed since the commit.
            IF v_update.committed_at IS NULL AND NOT v_old.is_same THEN
                PERFORM weft._fail(
                    'WF215',
                    format('group %s of the update differs from the one already added', v_new.g),
                    format(
                        '"%s" was added before, and "%s" was sent now, or its other fields differ.',
                        v_old.name,
                        v_new.name
                    ),
                    'Two clients fill the same update; give each its own.'
                );
            END IF;
            CONTINUE;
        END IF;
        v_is_new := true;
        IF v_update.committed_at IS NOT NULL THEN
            PERFORM weft._fail(
                'WF203',
                format('update %s of batch b%s is committed', v_update.update_id, v_update.batch_id),
                'A committed update never changes.',
                'Create a new update.'
            );
        END IF;
        IF v_new.is_set THEN
            PERFORM weft._add_set(
                add_groups.tenant_id, add_groups.batch_id, v_id, v_update.update_id, v_new.name,
                v_new.attributes, v_new.cancel_after, v_new.callback, false, add_groups.at
            );
            CONTINUE;
        END IF;
        PERFORM weft._add_tree_group(
            add_groups.tenant_id, add_groups.batch_id, v_update.update_id, v_id, v_parent_id, v_new.name,
            v_new.attributes, v_new.cancel_after, v_new.callback, add_groups.depth_max, add_groups.at
        );
    END LOOP;
    RETURN v_is_new;
END $$;
