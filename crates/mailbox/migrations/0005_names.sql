-- Which names may be taken again by their own token: those of tunnels that took no letter and had no device. And when a
-- tunnel was shut: it counts among those of its token for another day.

BEGIN IMMEDIATE;

ALTER TABLE tunnel ADD COLUMN used INTEGER NOT NULL DEFAULT 1;
ALTER TABLE tunnel ADD COLUMN shut_at INTEGER;

DROP INDEX tunnel_token;
CREATE INDEX tunnel_token ON tunnel (token, shut_at);

PRAGMA user_version = 5;
COMMIT;
