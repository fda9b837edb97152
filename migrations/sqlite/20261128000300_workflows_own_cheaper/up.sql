-- What is asked of a task's people is asked where there are some, by the triggers' own conditions.
SELECT 1;
