-- Each device says which sources it takes; before, the last one to say so overruled all others.

BEGIN IMMEDIATE;

ALTER TABLE device ADD COLUMN joined_at INTEGER NOT NULL DEFAULT 0;
ALTER TABLE device ADD COLUMN sources TEXT NOT NULL DEFAULT '[]';        -- JSON

-- Whoever was there last most likely said what stands there; all say it anew when they connect.
UPDATE device SET sources = (SELECT tunnel.sources FROM tunnel WHERE tunnel.id = device.tunnel)
    WHERE seen_at = (SELECT max(other.seen_at) FROM device AS other WHERE other.tunnel = device.tunnel);
ALTER TABLE tunnel DROP COLUMN sources;

PRAGMA user_version = 2;
COMMIT;
