import { expect, test } from '@jest/globals'
import type { Item } from '@slipway/client'
import { formatMatrix } from '../src/terminal/matrix.ts'

type Row = Item<'getReleaseMatrix'>
type Cell = Row['cells'][number]

const cell = (environment: string | null, versions: [string, number][], more: Partial<Cell> = {}): Cell => ({
  environment_id: environment,
  environment_name: environment,
  environment_position: null,
  tenant_id: null,
  tenant_name: null,
  versions: versions.map(([version, target_count]) => ({
    version,
    variants: 1,
    target_count,
    applied_at: '2026-11-23T10:00:00.000Z',
    applied_by: 'ann',
    deployment_id: '018f6b1e-6d1c-7c3a-9a51-0f1f5c1b2a3d',
  })),
  target_count: versions.reduce((sum, [, count]) => sum + count, 0),
  running: 0,
  failed: 0,
  drifted: 0,
  ...more,
})
const row = (source_name: string, cells: Cell[]): Row => ({
  source_type: 'solution',
  source_id: source_name,
  source_name,
  cells,
})
const rows = [
  row('shop', [
    cell('staging', [['1.1.0', 2]]),
    cell(
      'production',
      [
        ['1.1.0', 3],
        ['1.0.0', 1],
      ],
      { running: 1, failed: 2 },
    ),
  ]),
  row('search', [cell(null, [], { target_count: 1, failed: 1 })]),
]
const plain = { paint: (text: string) => text }

test('a matrix has a column for each environment and counts mixed versions', () => {
  expect(formatMatrix(rows, 100, plain)).toEqual([
    'SOURCE  KIND      no environment  production                               staging',
    'shop    solution  -               1.1.0 ×3, 1.0.0 ×1, 1 running, 2 failed  1.1.0',
    'search  solution  none, 1 failed  -                                        -',
  ])
})

test('the environments come by position, those without one last', () => {
  const places = [cell('staging', [], { environment_position: 20 }), cell('dev', [], { environment_position: 10 })]
  const [head] = formatMatrix([row('shop', [cell('canary', []), ...places])], 100, plain)
  expect(head).toMatch(/dev +staging +canary/)
})

test('a version with different parts says how many variants there are', () => {
  const mixed = cell('staging', [['1.1.0', 2]])
  const versions = mixed.versions.map((one) => ({ ...one, variants: 2 }))
  expect(formatMatrix([row('shop', [{ ...mixed, versions }])], 100, plain)[1]).toBe(
    'shop    solution  1.1.0 (2 variants)',
  )
})

test('colours do not shift the columns', () => {
  const coloured = { paint: (text: string) => `\x1b[31m${text}\x1b[0m` }
  const strip = (line: string) => line.replaceAll('\x1b[31m', '').replaceAll('\x1b[0m', '')
  const lines = formatMatrix(rows, 100, coloured)
  expect(lines.join('')).toContain('\x1b[31m2 failed\x1b[0m')
  expect(lines.map(strip)).toEqual(formatMatrix(rows, 100, plain))
})

test('a matrix wider than the terminal becomes a list', () => {
  expect(formatMatrix(rows, 80, plain)).toEqual([
    'shop (solution)',
    '  production  1.1.0 ×3, 1.0.0 ×1, 1 running, 2 failed',
    '  staging     1.1.0',
    '',
    'search (solution)',
    '  no environment  none, 1 failed',
  ])
})

test('a cell shows three versions, the count of the others, and targets without a version', () => {
  const versions = ['5', '4', '3', '2', '1'].map((major) => [`${major}.0.0`, 1] as [string, number])
  const many = [row('shop', [cell('production', versions, { target_count: 7 })])]
  const [, line] = formatMatrix(many, 200, plain)
  expect(line).toMatch(/ {2}5\.0\.0 ×1, 4\.0\.0 ×1, 3\.0\.0 ×1, none ×2, 2 more versions$/)
})

test('environments with the same name are distinguished by their tenants', () => {
  const place = (name: string) => ({ tenant_id: name, tenant_name: name, environment_id: name })
  const cells = ['Globex', 'Acme'].map((name) => cell('production', [['1.0.0', 1]], place(name)))
  const [head] = formatMatrix([row('shop', cells)], 100, plain)
  expect(head).toMatch(/Acme, production {2}Globex, production$/)
})
