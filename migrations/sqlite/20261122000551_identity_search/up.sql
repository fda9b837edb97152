-- Slug and name in small letters; the program writes them, and what stands here does it once for the rows of before
ALTER TABLE organizations ADD COLUMN search TEXT NOT NULL DEFAULT '';
UPDATE organizations SET search = replace(replace(replace(replace(replace(replace(
    lower(slug || ' ' || display_name), 'Ä', 'ä'), 'Ö', 'ö'), 'Ü', 'ü'), 'É', 'é'), 'È', 'è'), 'Ç', 'ç');
-- Name and description in small letters
ALTER TABLE roles ADD COLUMN search TEXT NOT NULL DEFAULT '';
UPDATE roles SET search = replace(replace(replace(replace(replace(replace(
    lower(name || ' ' || coalesce(description, '')), 'Ä', 'ä'), 'Ö', 'ö'), 'Ü', 'ü'), 'É', 'é'), 'È', 'è'), 'Ç', 'ç');
