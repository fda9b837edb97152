DROP TABLE job_endings;
DROP TABLE jobs;
