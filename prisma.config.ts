import { defineConfig } from 'prisma/config'

// Generating the client needs no database, so a missing URL is no error here.
export default defineConfig({
  schema: 'prisma/schema.prisma',
  migrations: { path: 'prisma/migrations' },
  datasource: { url: process.env['DATABASE_URL'] ?? 'postgresql://unset@127.0.0.1/unset' },
})
