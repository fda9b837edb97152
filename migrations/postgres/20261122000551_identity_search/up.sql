-- Slug and name in small letters; the program writes them, and what stands here does it once for the rows of before
ALTER TABLE organizations ADD COLUMN search text COLLATE "C" NOT NULL DEFAULT '';
UPDATE organizations SET search = lower((slug || ' ' || display_name) COLLATE "default");
-- Name and description in small letters
ALTER TABLE roles ADD COLUMN search text COLLATE "C" NOT NULL DEFAULT '';
UPDATE roles SET search = lower((name || ' ' || coalesce(description, '')) COLLATE "default");
