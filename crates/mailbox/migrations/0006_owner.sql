-- Devices are revoked by the one that opened their tunnel. Each says what it reads, and shows that it was invited; what it
-- is told of a new sealing key waits here for it.

BEGIN IMMEDIATE;

ALTER TABLE tunnel ADD COLUMN owner BLOB;                                -- null: it had left before this was noted
UPDATE tunnel SET owner = (SELECT key FROM device WHERE device.tunnel = tunnel.id AND joined_at = created_at);

ALTER TABLE device ADD COLUMN letters INTEGER NOT NULL DEFAULT 1;        -- the newest version of letters that it reads
ALTER TABLE device ADD COLUMN proof BLOB;                                -- that it was invited
ALTER TABLE device ADD COLUMN note BLOB NOT NULL DEFAULT x'';            -- the sealing keys, sealed to it

PRAGMA user_version = 6;
COMMIT;
