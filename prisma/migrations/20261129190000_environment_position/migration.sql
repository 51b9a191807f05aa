-- The order of environments that people set. Null: after those that have a position.
ALTER TABLE environments ADD COLUMN position integer;
