-- Whether a lane is the candidate group of its tasks that name nobody. It is for every version of before, and for what an
-- earlier program still writes; the program writes false
ALTER TABLE workflow_versions ADD COLUMN lane_groups boolean NOT NULL DEFAULT true;
