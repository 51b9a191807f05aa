import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { afterAll, expect } from '@jest/globals'
import type { TestTenant } from '@slipway/testing'
import { type Ended, type RunOptions, startSlipway } from '../../packages/cli/test/slipway.ts'

const UUID = /[0-9a-f]{8}-[0-9a-f-]{27}/

/** The first id in a text. */
export const findId = (text: string): string => UUID.exec(text)?.[0] ?? ''

export const expectExit = (ended: Ended, code: number) => expect(ended).toMatchObject({ code })

/** A folder for a test file, which is deleted at its end. */
export function createFolder(): string {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'slipway-golden-'))
  afterAll(() => fs.rmSync(folder, { recursive: true }))
  return folder
}

export type CommandLine = ReturnType<typeof openCommandLine>

/** The command line as the administrator of a tenant, in the process of the test, with a home folder of its own. */
export function openCommandLine({ suite, api }: Pick<TestTenant, 'suite' | 'api'>, home: string) {
  const defaults = { SLIPWAY_URL: suite.url, SLIPWAY_TOKEN: api.token, XDG_CONFIG_HOME: home }
  const start = (args: readonly string[], { env, ...options }: RunOptions = {}) =>
    startSlipway(args, { ...options, env: { ...defaults, ...env } })
  return {
    start,
    run: (args: readonly string[], options?: RunOptions): Promise<Ended> => start(args, options).ended,
    /** Runs a command that must succeed and print no error. Returns its output. */
    async succeed(...args: string[]): Promise<string> {
      const ended = await start(args).ended
      expect(ended).toMatchObject({ code: 0, stderr: '' })
      return ended.stdout
    },
  }
}
