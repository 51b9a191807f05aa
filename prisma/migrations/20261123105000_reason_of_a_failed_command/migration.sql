-- Why the command of a step failed, as a code: one of COMMAND_FAILURE_REASONS. Null for steps of earlier releases.
ALTER TABLE steps ADD COLUMN failure_reason text;
