ALTER TABLE "freezes" ADD COLUMN "time_zone" TEXT;
