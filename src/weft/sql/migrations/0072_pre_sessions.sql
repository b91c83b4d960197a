-- Sessions of browsers are tokens of a kind of their own, and so are the codes that open them.
ALTER TABLE weft.token
    ADD COLUMN kind text NOT NULL DEFAULT 'token' CHECK (kind IN ('token', 'code', 'session')),
    ADD COLUMN opened_from text CHECK (length(opened_from) <= 256),  -- the address of the browser; NULL: no session
    ADD COLUMN made_by bigint,  -- what ends with that token: a code, its session, and what that session makes; NULL: it ends by itself
    ADD COLUMN session_ends_at timestamptz,  -- of a code: when its session ends at the latest; NULL: it is only as long as any
    ADD CONSTRAINT token_of_a_browser_expires CHECK (kind = 'token' OR expires_at IS NOT NULL);
