-- The trail has failed logins, too. Often nobody knows whose they were, and one entry stands for all of a minute that are alike.
ALTER TABLE weft.trail_unsealed
    ALTER COLUMN tenant_id DROP NOT NULL,  -- NULL: a login that failed, of nobody knows whom
    ALTER COLUMN user_id DROP NOT NULL,    -- NULL: likewise, or the issuer's word for somebody who is no user
    ALTER COLUMN user_name DROP NOT NULL,  -- NULL: as tenant_id
    ADD COLUMN times int CHECK (times > 1);  -- NULL: it stands for one
ALTER TABLE weft.trail_entry
    ALTER COLUMN tenant_id DROP NOT NULL,
    ALTER COLUMN user_id DROP NOT NULL,
    ALTER COLUMN user_name DROP NOT NULL,
    ADD COLUMN times int CHECK (times > 1);
