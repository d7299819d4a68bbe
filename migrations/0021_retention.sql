-- How long events are kept, and what is remembered of those that are gone.

BEGIN IMMEDIATE;

-- What was set, in microseconds of store time; null: for ever. `source` 0 stands for all sources that say nothing else;
-- `kept` is a place in the list of what retention tells apart. What has no row is kept for its default.
CREATE TABLE retention (
    source INTEGER NOT NULL,
    kept   INTEGER NOT NULL,
    span   INTEGER,
    PRIMARY KEY (source, kept)
) STRICT, WITHOUT ROWID;

-- How far the events were gone through, oldest first, for each span for which some are kept: of those up to `seq`, none
-- is left that this span lets go, unless `look_again` names it.
CREATE TABLE swept (
    span INTEGER PRIMARY KEY,
    seq  INTEGER NOT NULL
) STRICT;

-- Events up to the farthest of these places that may be let go now, because they no longer wait or lost their pin.
-- `leaves`: the event is being deleted, in several commits.
CREATE TABLE look_again (
    seq    INTEGER PRIMARY KEY,
    leaves INTEGER NOT NULL
) STRICT;
INSERT INTO meta VALUES ('swept', 0);

CREATE TRIGGER event_is_let_go AFTER UPDATE OF pinned_at, deleted_at, source ON event
WHEN NEW.pinned_at IS NULL AND NEW.deleted_at IS NULL
    AND NEW.seq <= (SELECT value FROM meta WHERE key = 'swept')
BEGIN
    INSERT OR IGNORE INTO look_again VALUES (NEW.seq, 0);
END;
CREATE TRIGGER delivery_ends AFTER UPDATE OF state ON delivery
WHEN NEW.state > 1 AND NEW.event <= (SELECT value FROM meta WHERE key = 'swept')
BEGIN
    INSERT OR IGNORE INTO look_again VALUES (NEW.event, 0);
END;
CREATE TRIGGER delivery_ended_before AFTER INSERT ON delivery
WHEN NEW.state > 1 AND NEW.event <= (SELECT value FROM meta WHERE key = 'swept')
BEGIN
    INSERT OR IGNORE INTO look_again VALUES (NEW.event, 0);
END;

-- Store time when this was run, about. Events whose `stored_at` is null age from then.
INSERT INTO meta SELECT 'aged_from', coalesce((SELECT value FROM meta WHERE key = 'clock'),
    CAST(unixepoch('subsec') * 1000000 AS INTEGER));

-- What is in the bin, since when in store time, and who moved it there; null: nobody knows.
CREATE TABLE binned (
    event INTEGER PRIMARY KEY,
    at    INTEGER NOT NULL,
    who   INTEGER
) STRICT;
CREATE INDEX binned_at ON binned (at);
INSERT INTO binned SELECT e.seq, a.value, b.who FROM event e INDEXED BY event_binned
    JOIN meta a ON a.key = 'aged_from' LEFT JOIN binned_by b ON b.event = e.seq WHERE e.deleted_at IS NOT NULL;
DROP TABLE binned_by;

-- Which event was the newest at some moments in store time. What bears a number up to `seq` is at least as old as `at`.
CREATE TABLE passed (
    seq INTEGER PRIMARY KEY,
    at  INTEGER NOT NULL
) STRICT;
INSERT INTO passed SELECT coalesce(max(seq), 0), (SELECT value FROM meta WHERE key = 'aged_from') FROM event;

-- Keys age by the number of their event. `went`: the targets where it had been completed when it went, as JSON.
ALTER TABLE first_key ADD COLUMN went TEXT;
CREATE INDEX first_key_seq ON first_key (seq);
INSERT INTO meta VALUES ('keys_swept', 0);

-- Objects age by the event that was delivered last for them, and are known by a hash alone, because they outlive their
-- events. What was known of them before can't be hashed here, and is given up.
DROP TABLE object_clock;
CREATE TABLE object_clock (
    source INTEGER NOT NULL,
    object BLOB    NOT NULL,                    -- the first 16 bytes of SHA-256
    newest INTEGER NOT NULL,
    seq    INTEGER NOT NULL,
    PRIMARY KEY (source, object)
) STRICT, WITHOUT ROWID;
CREATE INDEX object_clock_seq ON object_clock (seq);

PRAGMA user_version = 21;
COMMIT;
