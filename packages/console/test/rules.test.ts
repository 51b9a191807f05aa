// What the console computes of the rules of environments, and of what keeps a deployment from starting.
import { expect, test } from '@jest/globals'
import { type Blocker, neededOverrides, overridesOf, refusingOf, startLabel } from '../src/components/refusing.ts'
import { deploymentRequest } from '../src/screens/deploy/deployment-request.ts'
import { formFromPlace } from '../src/screens/deploy/form.ts'
import { draftOf, newWindow, type Rules, rulesOf } from '../src/screens/environments/rules-draft.ts'
import { ruleSentences } from '../src/screens/environments/rules-words.ts'
import { candidateFor, environmentsOf, linesOf, type Row } from '../src/screens/releases/matrix-layout.ts'
import { promotionsOf } from '../src/screens/releases/promotions.ts'
import { approvalStand } from '../src/screens/request/approval-stand.ts'

const RULES: Rules = {
  approvals: { count: 2, role: 'release-manager', allow_author: false, expires_in_seconds: 5_400 },
  windows: [
    {
      start_time: '2026-12-07T09:00:00+02:00',
      end_time: '2026-12-07T16:00:00+02:00',
      recurrence: 'FREQ=WEEKLY;BYDAY=MO,TU',
      time_zone: null,
    },
  ],
  promotion: { from_environment_id: 'staging', hours: 24 },
}

test('unchanged rules are sent as they are stored, also the offset of a window', () => {
  expect(rulesOf(draftOf(RULES))).toEqual(RULES)
  expect(rulesOf(draftOf(null))).toBeNull()
  const [window] = draftOf(RULES).windows
  const moved = { ...draftOf(RULES), windows: window === undefined ? [] : [{ ...window, end: '2026-12-07T15:00' }] }
  expect(rulesOf(moved)?.windows).toEqual([
    { ...RULES.windows?.[0], start_time: '2026-12-07T07:00:00.000Z', end_time: '2026-12-07T15:00:00.000Z' },
  ])
})

test('a new window begins on the next Monday', () => {
  const starts = [3, 6, 7, 8].map((day) => newWindow(0, new Date(2026, 11, day, 23, 30)).start)
  expect(starts).toEqual(['2026-12-07T09:00', '2026-12-07T09:00', '2026-12-14T09:00', '2026-12-14T09:00'])
})

test('rules are shown in sentences', () => {
  expect(ruleSentences(RULES, (id) => `the ${id}`)).toEqual([
    'Needs 2 approvals of the role release-manager, within 1.5 hours',
    'Starts only Mon, Tue 07:00–14:00 (UTC)',
    'Takes only versions that are in force in the staging for 1 day',
  ])
  const window = { start_time: '2026-12-07T08:00:00Z', end_time: '2026-12-09T08:00:00Z' }
  expect(ruleSentences({ windows: [{ ...window, time_zone: 'Europe/Zurich' }] }, String)).toEqual([
    'Starts only 7 Dec 2026 09:00 – 9 Dec 2026 09:00 (Europe/Zurich)',
  ])
  expect(ruleSentences({ windows: [{ ...window, recurrence: 'FREQ=MONTHLY' }] }, String)[0]).toMatch(
    /, repeated FREQ=MONTHLY$/,
  )
  expect(ruleSentences(null, String)).toEqual([])
})

const rule = (parts: object) => ({
  environment_id: 'e',
  environment_name: 'production',
  count: 1,
  role: null,
  allow_author: false,
  missing: 1,
  ...parts,
})
const ada = {
  id: 'ada',
  username: 'ada',
  roles: ['operator'],
  role_bindings: [{ role: 'night-watch' }],
  right: { allowed: true, because: null },
}
const stand = (rules: object, viewer: object = {}, request: object = {}) =>
  approvalStand(
    {
      status: 'pending',
      triggered_by: 'pipeline',
      approvals: { rules: [rule(rules)], given: [], expires_at: '' },
      ...request,
    },
    { ...ada, ...viewer },
  )

test('a user learns why an approval is not possible', () => {
  expect(stand({}, {}, { can_approve: true })).toEqual({ mayApprove: true, mayReject: true, why: null })
  const none = { mayApprove: false, mayReject: false }
  expect(stand({}, { right: { allowed: false, because: 'None of your roles gives it' } })).toEqual({
    ...none,
    why: 'You may not approve: None of your roles gives it.',
  })
  expect(stand({ role: 'release-manager' })).toMatchObject({
    ...none,
    why: expect.stringMatching(/the role release-manager/),
  })
  expect(stand({ role: 'night-watch' }, {}, { can_approve: true })?.mayApprove).toBe(true)
  expect(stand({}, { username: 'pipeline' })).toMatchObject({ ...none, why: expect.stringMatching(/somebody else/) })
  expect(stand({ allow_author: true }, { username: 'pipeline' }, { can_approve: true })?.mayApprove).toBe(true)
  const onlyReject = { mayApprove: false, mayReject: true }
  expect(stand({ missing: 0 })).toEqual({ ...onlyReject, why: 'It has all approvals that it needs.' })
  const given = [{ user_id: 'ada', user_name: 'ada', at: '', comment: null }]
  const approved = { approvals: { rules: [rule({})], given, expires_at: '' } }
  expect(stand({}, {}, approved)).toEqual({ ...onlyReject, why: 'You have approved it.' })
  expect(stand({}, {}, { approvals: undefined })).toBeNull()
  expect(stand({}, {}, { status: 'cancelled' })).toBeNull()
})

const NOW = Date.parse('2026-12-07T09:00:00Z')
const blocker = (code: Blocker['code'], until: string | null, can_override = false): Blocker => ({
  code,
  until,
  can_override,
  message: code,
  details: {},
})

test('freezes and missing promotions refuse a request unless it starts after them; the other blockers let it wait', () => {
  const frozen = blocker('freeze', '2026-12-08T09:00:00Z', true)
  const promotion = blocker('promotion', '2026-12-07T12:00:00Z')
  const all = [blocker('approval', null, true), blocker('window', null), promotion, frozen]
  const refusing = (start_at?: string) =>
    refusingOf(all, start_at === undefined ? {} : { start_at }, NOW).map(({ code }) => code)
  expect(refusing()).toEqual(['promotion', 'freeze'])
  expect(refusing('2026-12-07T08:00:00Z')).toEqual(['promotion', 'freeze'])
  expect(refusing('2026-12-07T11:00:00Z')).toEqual(['promotion'])
  expect(refusing('2026-12-07T12:00:00Z')).toEqual([])
  expect(overridesOf(all)).toEqual(['rules', 'freeze'])
  expect(neededOverrides([frozen])).toEqual(['freeze'])
  expect([[], [blocker('start_time', null)], all].map(startLabel)).toEqual(['Start', 'Schedule', 'Ask for approval'])
})

const cell = (environment: string, ...versions: string[]) => ({
  environment_id: environment,
  environment_name: environment,
  tenant_id: null,
  tenant_name: null,
  versions: versions.map((version) => ({ version, variants: 1 })),
})

test('a matrix has an environment after the one before it, and compares their versions', () => {
  const promotions = promotionsOf([
    {
      id: 'production',
      name: 'production',
      position: null,
      rules: { promotion: { from_environment_id: 'staging', hours: 0 } },
    },
    { id: 'staging', name: 'staging', position: null, rules: null },
  ])
  const row = {
    cells: [cell('production', '1.0.0'), cell('staging', '1.1.0'), cell('demo'), cell('zoo')],
  } as unknown as Row
  expect(environmentsOf([row], promotions).map(({ name }) => name)).toEqual(['demo', 'staging', 'production', 'zoo'])
  const onlyStaging = { cells: [cell('staging', '1.1.0')] } as unknown as Row
  expect(environmentsOf([onlyStaging], promotions).map(({ name }) => name)).toEqual(['staging', 'production'])
  const candidate = (cells: object[], to: string) => {
    const [line] = linesOf({ cells } as unknown as Row)
    return line === undefined ? null : candidateFor(promotions, line, to)
  }
  expect(candidate(row.cells, 'production')).toMatchObject({ environment: { id: 'staging' }, isNew: true })
  expect(candidate([cell('staging', '1.1.0')], 'production')?.isNew).toBe(true)
  expect(candidate([cell('staging', '1.1.0'), cell('production', '1.1.0')], 'production')?.isNew).toBe(false)
  expect(candidate([cell('staging'), cell('production', '1.0.0')], 'production')).toBeNull()
  expect(candidate(row.cells, 'zoo')).toBeNull()
})

test('a promotion takes the versions of a deployment, and starts when they may go on', () => {
  const search = { id: 'web', from_environment: 'staging', environment: 'production', start_at: '2026-12-07T12:00:00Z' }
  const promotion = {
    version: '1.1.0',
    deployment_id: 'd',
    target_ids: ['one'],
    since: null,
    ready_at: null,
    blockers: [],
  }
  expect(deploymentRequest(formFromPlace({ search, ownTenant: null, promotion }), [], [])).toMatchObject({
    solution_id: 'web',
    versions_of: 'd',
    target_ids: ['one'],
    environment_id: 'production',
    start_at: '2026-12-07T12:00:00Z',
  })
})
