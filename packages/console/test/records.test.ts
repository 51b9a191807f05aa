// What forms and screens of records compute: changes, labels, time zones, menus and events.
import { expect, test } from '@jest/globals'
import { ConflictError, ValidationError } from '@slipway/client'
import { visibleScreens } from '../src/app/navigation.ts'
import { changesOf } from '../src/components/changes.ts'
import { filterCommand } from '../src/components/commands.ts'
import { fieldProblems } from '../src/components/field-problem.ts'
import { parseKind } from '../src/components/source-kinds.ts'
import { requestSourceName, sourceName } from '../src/components/source-name.ts'
import { changedTimeFields, timesOf } from '../src/screens/freezes/freeze-times.ts'
import { momentOf } from '../src/screens/freezes/zones.ts'
import { labelText, parseLabel } from '../src/screens/instances/label-text.ts'
import { environmentsOf, hasTenants, linesOf, type Row } from '../src/screens/releases/matrix-layout.ts'
import { connectionOf, draftOf } from '../src/screens/targets/connection-draft.ts'
import { eventGroups } from '../src/screens/webhooks/events.ts'

test('a change holds only the fields that differ; another order of a list is no difference', () => {
  const before = { name: 'a', roles: ['user', 'admin'], tenant_id: null }
  expect(changesOf(before, { name: 'b', roles: ['admin', 'user'], tenant_id: null })).toEqual({ name: 'b' })
})

test('a form shows a problem at its field, and above its buttons only what has no field', () => {
  const refusal = (...paths: string[]) => {
    const errors = paths.map((path) => ({ path, message: 'is wrong' }))
    return { status: 400, code: 'X', message: 'no', details: { errors } }
  }
  const form = (error: Error) => {
    const { at, rest } = fieldProblems(error)
    const shown = [at('/name'), at('/rules', ['/rules/count'])]
    return { shown, rest: rest() }
  }
  const taken = new ConflictError(refusal('/name'))
  expect(form(taken)).toEqual({ shown: ['is wrong', undefined], rest: null })
  expect(form(new ValidationError(refusal('/rules/a', '/rules/count')))).toMatchObject({
    shown: [undefined, 'a: is wrong'],
    rest: null,
  })
  const both = form(new ValidationError(refusal('/name', '/names')))
  expect(both.shown[0]).toBe('is wrong')
  expect(both.rest).toMatchObject({ problems: [{ path: '/names' }] })
  const other = new Error('the network')
  expect(form(other).rest).toBe(other)
})

test('a changed freeze sends the times that were changed, and all in another zone', () => {
  const times = { ...timesOf(null), start: '2026-07-01T12:00', end: '2026-07-02T12:00', zone: 'UTC' }
  expect(changedTimeFields(times, {})).toEqual({})
  expect(changedTimeFields(times, { end: times.end })).toEqual({ end_time: '2026-07-02T12:00:00.000Z' })
  const moved = { ...times, zone: 'Europe/Berlin' }
  expect(changedTimeFields(moved, { zone: moved.zone })).toEqual({
    start_time: '2026-07-01T10:00:00.000Z',
    end_time: '2026-07-02T10:00:00.000Z',
    time_zone: 'Europe/Berlin',
  })
})

test('a menu has the screens that the permissions allow', () => {
  const labels = (...permissions: string[]) =>
    visibleScreens((permission) => permissions.includes(permission)).map(({ label }) => label)
  expect(labels()).toEqual(['Account'])
  expect(labels('deployments:read')).toEqual(['Now', 'Deployments', 'Queue', 'Matrix', 'Account'])
  expect(labels('deployments:create', 'users:read')).toEqual(['Deploy', 'Users', 'Account'])
})

test('a command has an option for each filter, or there is no command', () => {
  const options = { search: '--search' }
  expect(filterCommand('slipway matrix', options, { search: '$(id)' })).toBe(`slipway matrix --search '$(id)'`)
  expect(filterCommand('slipway matrix', options, { search: 'a', other: 'b' })).toBeNull()
})

test('kinds and names of sources', () => {
  expect(['action', 'solutions', 'x', undefined].map(parseKind)).toEqual(['action', 'solution', null, null])
  expect(sourceName({ action_name: 'web', action_version: '1.2.0' })).toBe('web 1.2.0')
  expect(sourceName({})).toBe('unknown source')
  expect(requestSourceName({ source_name: 'web', source_version: '1.2.0' })).toBe('web 1.2.0')
})

test('a label without a value stands for any value', () => {
  expect(['zone=a=b', 'zone', 'zone='].map(parseLabel)).toEqual([
    ['zone', 'a=b'],
    ['zone', null],
    ['zone', ''],
  ])
  expect(['zone=a', 'zone'].map((text) => labelText(parseLabel(text)))).toEqual(['zone=a', 'zone'])
})

test('a clock time that a zone has twice is the first one, and a skipped one is read with the offset from before', () => {
  const berlin = (clock: string) => new Date(momentOf('Europe/Berlin', Date.parse(`${clock}Z`))).toISOString()
  expect(berlin('2026-07-01T12:00')).toBe('2026-07-01T10:00:00.000Z')
  expect(berlin('2026-10-25T02:30')).toBe('2026-10-25T00:30:00.000Z')
  expect(berlin('2026-03-29T02:30')).toBe('2026-03-29T01:30:00.000Z')
})

test('a connection has the fields of its type that are filled in', () => {
  const draft = { ...draftOf(), host: 'h', username: 'u', port: '22', exit_code: '3' }
  expect(connectionOf(draft)).toEqual({ type: 'ssh', host: 'h', username: 'u', port: 22 })
  expect(connectionOf({ ...draft, type: 'simulated' })).toEqual({ type: 'simulated', exit_code: 3 })
  expect(connectionOf({ ...draft, type: 'local' })).toEqual({ type: 'local' })
  expect(connectionOf(draftOf({ type: 'simulated', exit_code: 0 }))).toEqual({ type: 'simulated', exit_code: 0 })
})

test('a matrix has a line for each tenant and a column for each environment; what has none comes last', () => {
  const cell = (tenant: string | null, environment: string | null) => ({
    tenant_id: tenant,
    tenant_name: tenant,
    environment_id: environment,
    environment_name: environment,
  })
  const row = { cells: [cell(null, null), cell('t10', 'prod'), cell('t9', 'prod')] } as unknown as Row
  expect(environmentsOf([row]).map(({ name }) => name)).toEqual(['prod', 'No environment'])
  expect(linesOf(row).map(({ tenant, cells }) => [tenant.name, cells.length])).toEqual([
    ['t9', 1],
    ['t10', 1],
    ['No tenant', 1],
  ])
  expect(hasTenants([row])).toBe(true)
})

test('webhooks offer the events of what their owner may read', () => {
  const groups = eventGroups((permission) => permission === 'targets:read')
  expect(groups).toEqual([{ group: 'target', items: ['target.created', 'target.updated', 'target.deleted'] }])
})
