-- Nothing reads or writes it.
ALTER TABLE "target_locks" DROP COLUMN "target_index";
