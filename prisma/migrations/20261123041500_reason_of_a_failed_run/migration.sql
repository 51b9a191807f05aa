-- Why a run did not succeed, as a code. Before, only the words of `finished_error` told.
ALTER TABLE "run_progress" ADD COLUMN "finished_reason" TEXT;
