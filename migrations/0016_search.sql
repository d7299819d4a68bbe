-- The search index is a file of its own, written after events are stored. Whatever changes in an event that it may hold
-- is noted here in the same transaction, until the index has taken it over.

BEGIN IMMEDIATE;

-- Events up to this number may be in the index.
INSERT INTO meta VALUES ('indexed', 0);

CREATE TABLE changed (
    seq  INTEGER PRIMARY KEY,
    mark INTEGER NOT NULL,                      -- counts changes, so that one that comes meanwhile is not lost
    text INTEGER NOT NULL                       -- whether its text changed, too
) STRICT;

CREATE TRIGGER event_changes AFTER UPDATE OF source, verdict, flags, provider, duplicate_of, handshake, deleted_at,
    pinned_at ON event
WHEN NEW.seq <= (SELECT value FROM meta WHERE key = 'indexed')
BEGIN
    INSERT INTO changed VALUES (NEW.seq, 1, 0) ON CONFLICT DO UPDATE SET mark = mark + 1;
END;
CREATE TRIGGER text_changes AFTER UPDATE OF type, title, note ON event
WHEN NEW.seq <= (SELECT value FROM meta WHERE key = 'indexed')
    AND (NEW.type IS NOT OLD.type OR NEW.title IS NOT OLD.title OR NEW.note IS NOT OLD.note)
BEGIN
    INSERT INTO changed VALUES (NEW.seq, 1, 1) ON CONFLICT DO UPDATE SET mark = mark + 1, text = 1;
END;
CREATE TRIGGER event_leaves AFTER DELETE ON event
WHEN OLD.seq <= (SELECT value FROM meta WHERE key = 'indexed')
BEGIN
    INSERT INTO changed VALUES (OLD.seq, 1, 0) ON CONFLICT DO UPDATE SET mark = mark + 1;
END;
CREATE TRIGGER delivery_is_added AFTER INSERT ON delivery
WHEN NEW.event <= (SELECT value FROM meta WHERE key = 'indexed')
BEGIN
    INSERT INTO changed VALUES (NEW.event, 1, 0) ON CONFLICT DO UPDATE SET mark = mark + 1;
END;
CREATE TRIGGER delivery_changes AFTER UPDATE OF state ON delivery
WHEN NEW.event <= (SELECT value FROM meta WHERE key = 'indexed')
BEGIN
    INSERT INTO changed VALUES (NEW.event, 1, 0) ON CONFLICT DO UPDATE SET mark = mark + 1;
END;

PRAGMA user_version = 16;
COMMIT;
