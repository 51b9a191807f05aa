import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, expect, test } from '@jest/globals'
import { createLogger } from '@slipway/runtime'
import { Identity } from '../src/bridge/identity.ts'
import { Rotation } from '../src/bridge/rotation.ts'

const DAY_MS = 24 * 60 * 60 * 1_000
const logger = createLogger({ service: 'test', level: 'error' })

let folder: string
let identity: Identity
let now: number
/** The next credential that the bridge gives, or its error. */
let given: string | Error
let calls: string[]
let rotation: Rotation

const start = async () => {
  identity = await Identity.open(folder)
  rotation = new Rotation({
    identity,
    logger,
    now: () => now,
    bridge: {
      async newCredential(credential) {
        calls.push(credential)
        if (given instanceof Error) throw given
        return { credential: given }
      },
    },
  })
}

beforeEach(async () => {
  folder = mkdtempSync(path.join(os.tmpdir(), 'slipway-rotation-'))
  now = Date.parse('2026-01-01T00:00:00Z')
  given = 'two'
  calls = []
  await start()
  const membership = { instance_id: 'i', name: 'n', credential: 'one', next_credential: null, lost_after_seconds: 30 }
  await identity.join({ ...membership, credential_since: new Date(now).toISOString() }, 'token')
})
afterEach(() => rmSync(folder, { recursive: true }))

const stored = () => JSON.parse(readFileSync(path.join(folder, 'identity.json'), 'utf8')).membership

test('the credential is exchanged once each day', async () => {
  await rotation.rotateIfDue()
  now += DAY_MS - 1
  await rotation.rotateIfDue()
  expect(calls).toEqual([])
  now += 1
  await Promise.all([rotation.rotateIfDue(), rotation.rotateIfDue()])
  await rotation.rotateIfDue()
  expect(calls).toEqual(['one'])
  expect(identity.credential).toBe('two')
  await identity.confirmCredential('two')
  expect(stored()).toMatchObject({ credential: 'two', next_credential: null })
  now += DAY_MS
  given = 'three'
  await rotation.rotateIfDue()
  expect([calls, identity.credential]).toEqual([['one', 'two'], 'three'])
})

test('the former credential is kept until the new one is confirmed; a restart tries the new one first', async () => {
  now += DAY_MS
  await rotation.rotateIfDue()
  expect(stored()).toMatchObject({ credential: 'one', next_credential: 'two' })
  await start()
  expect(identity.credential).toBe('two')
  // The bridge no longer accepts this one: a later exchange, with a lost answer, has replaced it.
  expect(await identity.revertCredential('two')).toBe(true)
  expect(identity.credential).toBe('one')
  expect(await identity.revertCredential('one')).toBe(false)
  await identity.confirmCredential('one')
  expect(stored()).toMatchObject({ credential: 'one', next_credential: null })
})

test('after a lost answer the credential stays, and the exchange is retried a minute later', async () => {
  now += DAY_MS
  given = new Error('the connection broke')
  await rotation.rotateIfDue()
  expect(identity.credential).toBe('one')
  given = 'two'
  now += 59_000
  await rotation.rotateIfDue()
  expect(calls).toEqual(['one'])
  now += 1_000
  await rotation.rotateIfDue()
  expect(identity.credential).toBe('two')
})

test('a call that was sent with the former credential does not undo the exchange', async () => {
  now += DAY_MS
  await rotation.rotateIfDue()
  await identity.confirmCredential('one')
  expect(identity.credential).toBe('two')
  await identity.confirmCredential('two')
  expect(await identity.revertCredential('one')).toBe(false)
  expect(identity.credential).toBe('two')
})

test('an instance without membership exchanges no credential', async () => {
  await identity.leave()
  now += DAY_MS
  await rotation.rotateIfDue()
  await identity.storeNextCredential('stray')
  expect([calls, identity.credential]).toEqual([[], null])
})
