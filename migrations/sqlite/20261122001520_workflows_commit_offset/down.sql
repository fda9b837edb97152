-- Nothing: commits are counted in a row of their own here
SELECT 1;
