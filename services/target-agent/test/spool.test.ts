import { appendFileSync, mkdtempSync, readdirSync, rmSync, statSync, symlinkSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, expect, test } from '@jest/globals'
import type { AgentCommandEnd } from '@slipway/contracts'
import { Spool } from '../src/commands/spool.ts'

const LIMIT = 1024 * 1024
const END: AgentCommandEnd = { exit_code: 0, signal: null, confirmed: true, error: null, content: null }

let folder: string
beforeEach(() => {
  folder = mkdtempSync(path.join(os.tmpdir(), 'slipway-spool-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

/** All frames from an offset, as kind and content. */
async function framesOf(spool: Spool, from = 0): Promise<[number, string][]> {
  const pieces: Buffer[] = []
  for (let at = from; ; ) {
    const bytes = await spool.read(at, 100_000)
    if (!bytes || bytes.length === 0) break
    pieces.push(bytes)
    at += bytes.length
  }
  const all = Buffer.concat(pieces)
  const frames: [number, string][] = []
  for (let at = 0; at < all.length; ) {
    const size = all.readUInt32BE(at + 1)
    frames.push([all.readUInt8(at), all.subarray(at + 5, at + 5 + size).toString()])
    at += 5 + size
  }
  return frames
}

test('a spool keeps the output and the end over a restart, without an incomplete frame', async () => {
  const spool = await Spool.create(folder, LIMIT)
  await spool.add('stdout', Buffer.from('one'))
  await spool.add('stderr', Buffer.from('two'))
  const [file] = readdirSync(folder)
  appendFileSync(path.join(folder, String(file)), Buffer.from([1, 0, 0, 0, 9, 120]))
  const again = await Spool.restore(folder, LIMIT)
  expect(again?.complete).toBe(false)
  await again?.finish(END)
  const third = await Spool.restore(folder, LIMIT)
  expect(third?.complete).toBe(true)
  expect(await framesOf(third as Spool)).toEqual([
    [1, 'one'],
    [2, 'two'],
    [3, JSON.stringify(END)],
  ])
})

test('a full spool makes the command wait, and acknowledged output is deleted', async () => {
  const spool = await Spool.create(folder, LIMIT)
  const chunk = Buffer.alloc(64 * 1024, 'x')
  let added = 0
  const adding = (async () => {
    for (; added < 200; added += 1) await spool.add('stdout', chunk)
  })()
  let offset = 0
  let most = 0
  while (added < 200) {
    await spool.waitForFrames(offset, 1_000)
    const bytes = await spool.read(offset, 1024 * 1024)
    most = Math.max(
      most,
      readdirSync(folder).reduce((sum, name) => sum + statSync(path.join(folder, name)).size, 0),
    )
    offset += bytes?.length ?? 0
    await spool.acknowledge(offset)
  }
  await adding
  expect(offset).toBeGreaterThan(200 * 64 * 1024 - LIMIT)
  // The limit, and the one segment that is acknowledged only in part.
  expect(most).toBeLessThan(LIMIT + 5 * 1024 * 1024)
  expect(await spool.read(0, 10)).toBeNull()
})

test('a full spool that stops waiting reports how many bytes are lost', async () => {
  const spool = await Spool.create(folder, LIMIT)
  const adding = spool.add('stdout', Buffer.alloc(LIMIT + 200_000, 'x'))
  spool.stopWaiting()
  await adding
  await spool.finish(END)
  const frames = await framesOf(spool)
  const kept = frames.filter(([kind]) => kind === 1).reduce((sum, [, text]) => sum + text.length, 0)
  expect(kept).toBeGreaterThan(LIMIT - 100_000)
  const lost = LIMIT + 200_000 - kept
  expect(frames.slice(-2)).toEqual([
    [2, `\n${lost} bytes of the output are lost: it was not fetched in time (SLIPWAY_AGENT_SPOOL_MIB)\n`],
    [3, JSON.stringify(END)],
  ])
})

test('a spool on a full disk keeps the end and reports how much output is lost', async () => {
  symlinkSync('/dev/full', path.join(folder, `${'0'.repeat(15)}.spool`))
  const spool = await Spool.create(folder, LIMIT)
  await spool.add('stdout', Buffer.from('lost'))
  await spool.finish(END)
  expect(spool.complete).toBe(true)
  expect(await framesOf(spool)).toEqual([
    [2, '\n4 bytes of the output are lost: the disk of the target failed (ENOSPC)\n'],
    [3, JSON.stringify(END)],
  ])
})
