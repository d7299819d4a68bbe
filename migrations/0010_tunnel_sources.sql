-- Which sources a relay is told of: those that were chosen for its tunnel.

BEGIN IMMEDIATE;

ALTER TABLE tunnel ADD COLUMN sources TEXT;    -- a JSON array of slugs; null: none was chosen, so all

PRAGMA user_version = 10;
COMMIT;
