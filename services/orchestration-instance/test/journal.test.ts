import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, expect, test } from '@jest/globals'
import { testLogger } from '@slipway/testing'
import { Journal } from '../src/journal/journal.ts'
import { JournalDisk } from '../src/journal/journal-disk.ts'
import type { Header } from '../src/journal/records.ts'

let folder: string
let disk: JournalDisk

beforeEach(async () => {
  folder = mkdtempSync(path.join(os.tmpdir(), 'slipway-journal-'))
  disk = await JournalDisk.open(path.join(folder, 'journals'), {
    maxBytes: 1024 * 1024,
    freeSpace: async () => {},
    logger: testLogger,
  })
})
afterEach(() => {
  disk.close()
  rmSync(folder, { recursive: true, force: true })
})

test('a rewrite that begins just after a line is durable does not wait for another line', async () => {
  const file = path.join(folder, 'journals', 'run.journal')
  const onFailure = (error: Error) => {
    throw error
  }
  const journal = await Journal.create(file, {} as Header, { disk, onFailure })
  const rules = { keeps: () => false, last: () => '{"last":true}' }
  // The sender looks for events a few microtasks after they are durable. Each number of microtasks must do.
  for (let turns = 0; turns < 8; turns += 1) {
    await new Promise<void>((rewritten) => {
      journal.append('{"line":true}', async () => {
        for (let turn = 0; turn < turns; turn += 1) await null
        await journal.rewrite(rules)
        rewritten()
      })
    })
  }
  await journal.close()
  expect(readFileSync(file, 'utf8')).toBe('{}\n{"last":true}\n')
})
