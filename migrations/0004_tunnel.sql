-- Tunnels: which there are, when each was connected, and what came of the times when it was not. Their keys are in the
-- vault; `keys` names them there.

BEGIN IMMEDIATE;

-- The lines that a relay's trusted proxy added: beside the request, which is signed without them. Lists don't read it:
-- it comes after the body.
ALTER TABLE event ADD COLUMN forwarded BLOB;

CREATE TABLE tunnel (
    id              INTEGER PRIMARY KEY AUTOINCREMENT,
    kind            INTEGER NOT NULL,
    label           TEXT    NOT NULL,           -- for people
    name            TEXT,                       -- at its relay
    url             TEXT,                       -- the relay's
    keys            TEXT,
    source          TEXT,                       -- the only source that it serves, where it serves one
    public_url      TEXT,                       -- as it was told last
    enabled         INTEGER NOT NULL,
    created_at      INTEGER NOT NULL,
    connected_until INTEGER,                    -- surely; null: never was
    refused         INTEGER NOT NULL DEFAULT 0, -- at the relay, as it was told last
    refused_at      INTEGER,
    unknown         INTEGER NOT NULL DEFAULT 0,
    last_event_at   INTEGER,
    removed_at      INTEGER                     -- its gaps stay
) STRICT;

CREATE TABLE tunnel_gap (
    id        INTEGER PRIMARY KEY AUTOINCREMENT,
    tunnel    INTEGER NOT NULL,
    began_at  INTEGER NOT NULL,
    ended_at  INTEGER,                          -- null: what waited is not all here yet
    why       INTEGER NOT NULL,
    caught_up INTEGER NOT NULL DEFAULT 0,       -- counted in the transaction that stores the event
    lost      INTEGER NOT NULL DEFAULT 0,
    took      INTEGER,                          -- microseconds from the connection to the last of them
    first_seq INTEGER,
    last_seq  INTEGER
) STRICT;
CREATE UNIQUE INDEX tunnel_gap_open ON tunnel_gap (tunnel) WHERE ended_at IS NULL;
CREATE INDEX tunnel_gap_of ON tunnel_gap (tunnel, id);
CREATE INDEX tunnel_gap_told ON tunnel_gap (ended_at) WHERE caught_up > 0 OR lost > 0;

PRAGMA user_version = 4;
COMMIT;
