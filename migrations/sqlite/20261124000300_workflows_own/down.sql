DROP TRIGGER runs_own_removed;
DROP TRIGGER human_tasks_own_removed;
DROP TRIGGER human_tasks_own_changed;
DROP TRIGGER human_task_candidates_own;
DROP TRIGGER human_tasks_own_opened;
DROP TABLE human_task_people;
DROP TABLE run_people;
