ALTER TABLE workflow_versions DROP COLUMN lane_groups;
