-- Lists, views and numbers no longer read what is in the bin. Numbers of events are never given out again. The waiting
-- deliveries of a deleted event are ended.

BEGIN IMMEDIATE;

-- `last_seq` is the highest number that was deleted for good. The highest there is, or was, is the last one given out.
INSERT INTO meta VALUES ('last_seq', 0);
CREATE TRIGGER event_goes AFTER DELETE ON event
WHEN OLD.seq > (SELECT value FROM meta WHERE key = 'last_seq')
BEGIN
    UPDATE meta SET value = OLD.seq WHERE key = 'last_seq';
END;

-- Each event that is not in the bin has an entry in one of the first two.
DROP INDEX event_listed;
CREATE INDEX event_standing ON event (seq) WHERE deleted_at IS NULL AND NOT flags & 16;
CREATE INDEX event_folded ON event (seq) WHERE deleted_at IS NULL AND flags & 16;
DROP INDEX event_source;
CREATE INDEX event_source ON event (source, seq, flags) WHERE deleted_at IS NULL;

-- Repeats that fold, but whose first event is in the bin or gone: they are listed all the same.
CREATE TABLE left_behind (
    seq    INTEGER PRIMARY KEY,
    source INTEGER NOT NULL
) STRICT;
CREATE INDEX left_behind_source ON left_behind (source, seq);

CREATE TRIGGER first_goes AFTER UPDATE OF deleted_at ON event
WHEN OLD.deleted_at IS NULL AND NEW.deleted_at IS NOT NULL AND NEW.duplicate_of IS NULL
BEGIN
    INSERT OR IGNORE INTO left_behind SELECT seq, source FROM event
    WHERE duplicate_of = NEW.id AND deleted_at IS NULL AND flags & 16;
END;
CREATE TRIGGER first_comes_back AFTER UPDATE OF deleted_at ON event
WHEN OLD.deleted_at IS NOT NULL AND NEW.deleted_at IS NULL AND NEW.duplicate_of IS NULL
BEGIN
    DELETE FROM left_behind WHERE seq IN (SELECT seq FROM event WHERE duplicate_of = NEW.id);
END;
CREATE TRIGGER first_is_gone AFTER DELETE ON event
WHEN OLD.deleted_at IS NULL AND OLD.duplicate_of IS NULL
BEGIN
    INSERT OR IGNORE INTO left_behind SELECT seq, source FROM event
    WHERE duplicate_of = OLD.id AND deleted_at IS NULL AND flags & 16;
END;
CREATE TRIGGER repeat_changes AFTER UPDATE OF deleted_at, flags, duplicate_of ON event
WHEN NEW.flags & 16 OR OLD.flags & 16
BEGIN
    DELETE FROM left_behind WHERE seq = NEW.seq;
    INSERT INTO left_behind SELECT NEW.seq, NEW.source
    WHERE NEW.flags & 16 AND NEW.deleted_at IS NULL AND NEW.duplicate_of IS NOT NULL
    AND NOT EXISTS (SELECT 1 FROM event WHERE id = NEW.duplicate_of AND deleted_at IS NULL);
END;
CREATE TRIGGER repeat_is_gone AFTER DELETE ON event WHEN OLD.flags & 16
BEGIN
    DELETE FROM left_behind WHERE seq = OLD.seq;
END;
INSERT INTO left_behind SELECT c.seq, c.source FROM event f INDEXED BY event_bin
    CROSS JOIN event c INDEXED BY event_copies ON c.duplicate_of = f.id
    WHERE f.deleted_at IS NOT NULL AND c.deleted_at IS NULL AND c.flags & 16;

-- Deliveries of events in the bin are no dead letters, and in no numbers.
ALTER TABLE delivery ADD COLUMN binned INTEGER NOT NULL DEFAULT 0;
UPDATE delivery SET state = 5, last_error = 'its event was deleted', due_at = NULL,
    ended_at = CAST(unixepoch('subsec') * 1000000 AS INTEGER)
WHERE state IN (0, 1) AND state = 0 AND event IN (SELECT seq FROM event WHERE deleted_at IS NOT NULL);
UPDATE delivery SET binned = 1 WHERE event IN (SELECT seq FROM event WHERE deleted_at IS NOT NULL);
UPDATE tally SET deliveries = deliveries - (SELECT count(*) FROM delivery WHERE binned)
WHERE (source, verdict) = (SELECT source, verdict FROM tally LIMIT 1);
DROP INDEX delivery_unsent;
CREATE INDEX delivery_unsent ON delivery (state, event, binned) WHERE state IN (3, 4, 5) AND NOT binned;

PRAGMA user_version = 15;
COMMIT;
