import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { analyse } from '../../src/analysis/index.ts'
import { REAL } from './real.ts'
import { canRun, run, type Servers, startServers } from './run.ts'

let servers: Servers
beforeAll(async () => {
  servers = await startServers()
})
afterAll(() => servers.close())

describe('the rules recognize the output of a real failing command', () => {
  for (const example of REAL) {
    // The test is skipped visibly if the machine lacks a program.
    const attempt = canRun(example) ? test : test.skip
    attempt(
      `${example.rules[0]}: ${example.shell ?? 'sh'}: ${example.script.replace(/\s+/g, ' ').slice(0, 90)}`,
      async () => {
        const failure = await run(example, servers.env)
        const { rule, analysis } = analyse(failure, new Date().toISOString())
        if (!example.rules.includes(rule)) throw new Error(`${rule}: ${JSON.stringify({ failure, analysis }, null, 1)}`)
        expect(failure.exit_code).not.toBe(0)
      },
    )
  }
})
