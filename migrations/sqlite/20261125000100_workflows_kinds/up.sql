-- Definitions of several kinds: workflows, and case types. A list is of one kind. A slug is unique within the organisation
-- and the kind: that of a case type is stored as `case/<slug>`, so that the one constraint holds for both
ALTER TABLE workflows ADD COLUMN kind TEXT NOT NULL DEFAULT 'workflow';
DROP INDEX workflows_by_creation;
DROP INDEX workflows_by_update;
DROP INDEX workflows_by_name;
CREATE INDEX workflows_by_creation ON workflows (organization_id, kind, created_at, id);
CREATE INDEX workflows_by_update ON workflows (organization_id, kind, updated_at, id);
CREATE INDEX workflows_by_name ON workflows (organization_id, kind, display_name, id);
