import { expect, test } from '@jest/globals'
import { reachability } from '../src/read-models/reachability.ts'

const SEEN = new Date('2026-11-23T10:00:00Z')
const FAILED = new Date('2026-11-23T10:05:00Z')
const sighting = (fields: object) => ({
  id: '',
  host_key: null,
  last_seen_at: null,
  last_error: null,
  failing_since: null,
  status: 'offline' as const,
  ...fields,
})
const target = (type: string, enabled = true) => ({ connection: { type }, enabled })

test('a failed attempt since the last contact is the reason, for any status', () => {
  const failed = { last_seen_at: SEEN, last_error: 'connection refused by h:22', failing_since: FAILED }
  for (const status of ['online', 'stale', 'offline']) {
    expect(reachability(target('ssh'), sighting({ ...failed, status }))).toEqual({
      last_error: 'connection refused by h:22',
      unreachable_since: FAILED,
    })
  }
})

test.each([
  ['ssh', true, null, /^no instance has probed the target yet/],
  ['ssh', false, SEEN, /disabled/],
  ['agent', true, null, /no agent has enrolled/],
  ['agent', true, SEEN, /no heartbeats/],
  ['local', true, SEEN, /no orchestration instance is online/],
  ['simulated', true, SEEN, /no orchestration instance is online/],
])(
  'a target of type %s (enabled: %s) last seen at %s has a reason without an attempt',
  (type, enabled, last_seen_at, reason) => {
    expect(reachability(target(type, enabled), sighting({ last_seen_at }))).toEqual({
      last_error: expect.stringMatching(reason),
      unreachable_since: last_seen_at,
    })
  },
)

test('an online target has no error and is not unreachable', () => {
  const online = sighting({ last_seen_at: SEEN, status: 'online' })
  expect(reachability(target('ssh'), online)).toEqual({ last_error: null, unreachable_since: null })
})
