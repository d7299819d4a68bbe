-- How many open tunnels a token may have.

BEGIN IMMEDIATE;

ALTER TABLE token ADD COLUMN most_tunnels INTEGER NOT NULL DEFAULT 100;

PRAGMA user_version = 3;
COMMIT;
