// Run as `make test`, or one part of it as
//   node --conditions=@slipway/source --import=./scripts/jest/register.mjs node_modules/jest/bin/jest.js packages/domain
import { execFileSync } from 'node:child_process'

// Tests speak with real servers: those of the environment, else those of scripts/infra.sh.
const names = ['DATABASE_URL', 'RABBITMQ_URL', 'REDIS_URL']
if (names.some((name) => !process.env[name])) {
  const exports = execFileSync('bash', ['scripts/infra.sh', 'env'], { cwd: import.meta.dirname, encoding: 'utf8' })
  for (const [, name, url] of exports.matchAll(/^export (\w+)='(.*)'$/gm)) process.env[name] ??= url
}

export default {
  testEnvironment: 'node',
  testMatch: ['**/*.test.ts'],
  testPathIgnorePatterns: [
    '/node_modules/',
    '/dist/',
    '/\\.slipway/',
    // They stop servers that other tests use: scripts/test.mjs runs them alone, at the end.
    ...(process.env.SLIPWAY_TEST_RESTARTS ? [] : ['/tests/restarts/']),
    // Minutes each: `make test-long`.
    ...(process.env.SLIPWAY_TEST_LONG
      ? []
      : [
          '/tests/faults/(absent-servers|half-open|million-lines|network-namespaces-long|previous-release|replicas|restore|rolling-restart)\\.',
        ]),
  ],
  modulePathIgnorePatterns: ['/dist/', '/\\.slipway/', '/\\.tools/'],
  // Node loads tests and sources, as TypeScript: scripts/jest/register.mjs.
  runtime: '<rootDir>/scripts/jest/runtime.cjs',
  transform: {},
  // A bound for a machine with both cores busy; no test asserts a time by it.
  testTimeout: process.env.SLIPWAY_TEST_LONG ? 1_800_000 : 600_000,
  // Three test files at once and the short campaign keep two cores busy. With more, some calls exceed their timeout.
  maxWorkers: 3,
}
