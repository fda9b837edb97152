DROP TRIGGER runs_own_removed ON runs;
DROP TRIGGER human_tasks_own_removed ON human_tasks;
DROP TRIGGER human_tasks_own ON human_tasks;
DROP FUNCTION runs_own_remove();
DROP FUNCTION human_tasks_own_remove();
DROP FUNCTION human_tasks_own();
DROP FUNCTION run_people_change(uuid, uuid, uuid, text, bigint);
DROP TABLE human_task_people;
DROP TABLE run_people;
