-- Whether a lane is the candidate group of its tasks that name nobody. It is for every version of before, and for what an
-- earlier program still writes; the program writes false
ALTER TABLE workflow_versions ADD COLUMN lane_groups INTEGER NOT NULL DEFAULT 1 CHECK (lane_groups IN (0, 1));
