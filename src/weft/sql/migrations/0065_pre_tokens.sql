-- Tokens that people and programs ask for: with a name, an end, and at most some rights of their user.
ALTER TABLE weft.token
    ADD COLUMN token_id bigint GENERATED ALWAYS AS IDENTITY UNIQUE,
    ADD COLUMN name text NOT NULL DEFAULT 'home' CHECK (length(name) BETWEEN 1 AND 256),
    ADD COLUMN scopes text[] CHECK (cardinality(scopes) > 0 AND scopes <@ ARRAY['read', 'write', 'operate', 'manage', 'administer']),
    ADD COLUMN last_used_at timestamptz,
    ADD COLUMN idempotency_key text;
CREATE INDEX token_user_idx ON weft.token (user_id, token_id);
