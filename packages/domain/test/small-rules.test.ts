import { createHash } from 'node:crypto'
import { describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import {
  canOverride,
  compareVersions,
  cursorPageOf,
  decodeSqid,
  encodeSqid,
  type FreezePlace,
  FreezeSet,
  hasUnstorableText,
  isUuid,
  isVersion,
  isVersionRequirement,
  judgeFreezes,
  type ListOrder,
  lineId,
  MAX_LINE_BYTES,
  nameKey,
  nameProblems,
  pageOf,
  parsePage,
  resolveVersion,
  type SqidKind,
  splitLine,
  stepId,
  type TargetPlace,
} from '../src/index.ts'

const KINDS: SqidKind[] = ['action', 'sequence', 'solution', 'target', 'tenant', 'environment']

describe('short ids', () => {
  test('decode to their number, and only for their own kind', () => {
    fc.assert(
      fc.property(fc.maxSafeNat(), fc.constantFrom(...KINDS), fc.constantFrom(...KINDS), (n, kind, other) => {
        const text = encodeSqid(kind, n)
        expect(text).toMatch(/^[A-Za-z0-9]{8,}$/)
        expect(decodeSqid(kind, text)).toBe(n)
        if (other !== kind) expect(decodeSqid(other, text)).not.toBe(n)
      }),
    )
  })

  test('have exactly one form', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(...'abcXYZ019'), minLength: 8, maxLength: 12 }), (text) => {
        const n = decodeSqid('target', text)
        if (n !== null) expect(encodeSqid('target', n)).toBe(text)
      }),
    )
    for (const text of ['', 'abc', 'has space', `${encodeSqid('target', 1)}x`, '0'.repeat(1000)]) {
      expect(decodeSqid('target', text)).toBeNull()
    }
  })

  // Clients store short ids, so a short id must refer to the same record in every release.
  test('do not change between releases', () => {
    expect(KINDS.map((kind) => encodeSqid(kind, 1))).toEqual(STORED_SQIDS)
  })

  test('differ from UUIDs', () => {
    expect(isUuid('8a4f5b8e-1111-4000-8000-00000000000F')).toBe(true)
    for (const text of [
      '',
      '8a4f5b8e11114000800000000000000f',
      '8a4f5b8e-1111-4000-8000-00000000000g',
      '8a4f5b8e-1111-4000-8000-00000000000ä',
      '8a4f5b8e-1111-4000-80000-0000000000-',
      ' 8a4f5b8e-1111-4000-8000-000000000000',
    ]) {
      expect(isUuid(text)).toBe(false)
    }
  })
})

const STORED_SQIDS = ['SvC0FQi5', 'lU1ztv8s', 'TuvaZG5Q', '2tPs18ZQ', 'zeNCSvUe', 'RrXz6KLE']

const BY_NAME: ListOrder<{ name: string; at: string; id: string }> = {
  list: 'names',
  kinds: ['text', 'time', 'uuid'],
  keyOf: ({ name, at, id }) => [name, at, id],
}

describe('a cursor', () => {
  const ID = '018f6b1e-6d1c-7c3a-9a51-0f1f5c1b2a04'
  const rows = ['"1"', 'ü\u2028', ''].map((name) => ({ name, at: '2026-01-31T09:00:00.000Z', id: ID }))
  const cursorAfter = (count: number, page = 1) =>
    cursorPageOf({ page, limit: count }, BY_NAME, { total: 3, rows }).meta.next_cursor

  test('leads to what follows the last row of a page', () => {
    const first = cursorPageOf({ page: 1, limit: 2 }, BY_NAME, { total: 3, rows })
    expect(first.rows).toEqual(rows.slice(0, 2))
    expect(first.meta).toMatchObject({ page: 1, has_next: true, has_prev: false })
    const { page, offset, cursor } = parsePage({ cursor: first.meta.next_cursor ?? '', limit: '2' }, BY_NAME)
    expect([page, offset, cursor?.after]).toEqual([2, 0, ['ü\u2028', '2026-01-31T09:00:00.000Z', ID]])
    const last = cursorPageOf({ page, limit: 2 }, BY_NAME, { total: 3, rows: rows.slice(2) })
    expect(last.meta).toMatchObject({ has_next: false, has_prev: true, next_cursor: null })
    expect(cursorAfter(3)).toBeNull()
    expect(parsePage({ cursor: 'start' }, BY_NAME)).toMatchObject({ page: 1, cursor: { after: null } })
  })

  const written = (...parts: unknown[]) => Buffer.from(JSON.stringify(parts)).toString('base64url')
  test.each([
    ['of another list', written('others', 2, 'a', '2026-01-31T09:00:00.000Z', ID)],
    ['with fewer values', written('names', 2, 'a', '2026-01-31T09:00:00.000Z')],
    ['with more values', written('names', 2, 'a', '2026-01-31T09:00:00.000Z', ID, 'x')],
    ['with a number', written('names', 2, 5, '2026-01-31T09:00:00.000Z', ID)],
    ['with NUL', written('names', 2, 'a\0', '2026-01-31T09:00:00.000Z', ID)],
    ['with a time of another form', written('names', 2, 'a', '-infinity', ID)],
    ['with a time that does not exist', written('names', 2, 'a', '2026-13-31T09:00:00.000Z', ID)],
    ['with a wrong id', written('names', 2, 'a', '2026-01-31T09:00:00.000Z', 'x')],
    ['with a wrong page', written('names', 1, 'a', '2026-01-31T09:00:00.000Z', ID)],
    ['that is no list', Buffer.from('{}').toString('base64url')],
    ['that is no JSON', 'abc'],
    ['that is empty', ''],
  ])('%s is refused', (_, cursor) => {
    expect(() => parsePage({ cursor }, BY_NAME)).toThrow(/: cursor: /)
  })

  test('is refused together with a page', () => {
    expect(() => parsePage({ cursor: 'start', page: '1' }, BY_NAME)).toThrow(/: cursor: /)
  })
})

describe('pages', () => {
  test.each([
    [{}, 1, 50],
    [{ page: '0', limit: '0' }, 1, 1],
    [{ page: '-3', limit: '-1' }, 1, 1],
    [{ page: 2, limit: '1000' }, 2, 100],
    [{ page: '3', limit: '20' }, 3, 20],
  ])('%j is page %p of %p', (raw, page, limit) => {
    expect(parsePage(raw, BY_NAME)).toEqual({ page, limit, offset: (page - 1) * limit, cursor: null })
  })

  test.each(['1.5', '1e2', '', ' 1', 'x', ['1', '2'], null, 1.5])('%j is refused', (value) => {
    expect(() => parsePage({ page: value }, BY_NAME)).toThrow(/: page: /)
    expect(() => parsePage({ limit: value }, BY_NAME)).toThrow(/: limit: /)
  })

  test('a page beyond the end has a safe offset', () => {
    const { offset } = parsePage({ page: '9'.repeat(400), limit: '100' }, BY_NAME)
    expect(Number.isSafeInteger(offset)).toBe(true)
  })

  test.each([
    [1, 10, 0, 0, false, false],
    [1, 10, 10, 1, false, false],
    [1, 10, 11, 2, true, false],
    [2, 10, 11, 2, false, true],
    [9, 10, 11, 2, false, true],
  ])(
    'page %p of %p among %p: %p pages, next %p, previous %p',
    (page, limit, total, total_pages, has_next, has_prev) => {
      expect(pageOf({ page, limit }, total)).toEqual({ total, page, limit, total_pages, has_next, has_prev })
    },
  )
})

describe('versions', () => {
  test('must be complete semantic versions', () => {
    for (const good of ['1.2.3', '0.0.0', '1.0.0-beta.1']) expect(isVersion(good)).toBe(true)
    for (const bad of ['1', '1.2', 'v1.2.3', '=1.2.3', ' 1.2.3', '1.2.3+build', '01.2.3', 'latest', '']) {
      expect(isVersion(bad)).toBe(false)
    }
  })

  test('resolve to the highest that is no prerelease, in any order', () => {
    expect(resolveVersion(['1.9.0', '1.10.0', '2.0.0-rc.1', '1.2.0'])).toBe('1.10.0')
    expect(resolveVersion(['2.0.0-rc.1'])).toBeNull()
    expect(resolveVersion([])).toBeNull()
  })

  test('resolve with the range syntax of npm', () => {
    const versions = ['1.0.0', '1.4.0', '2.0.0-rc.1', '2.1.0']
    expect(resolveVersion(versions, '^1.0.0')).toBe('1.4.0')
    expect(resolveVersion(versions, '2.0.0-rc.1')).toBe('2.0.0-rc.1')
    expect(resolveVersion(versions, '~2.0.0-rc.0')).toBe('2.0.0-rc.1')
    expect(resolveVersion(versions, '>=3')).toBeNull()
    expect(isVersionRequirement('^1 || 2.x')).toBe(true)
    expect(isVersionRequirement('latest')).toBe(false)
    expect(['1.10.0', '1.9.0', '1.10.0-a'].sort(compareVersions)).toEqual(['1.9.0', '1.10.0-a', '1.10.0'])
  })
})

describe('freezes', () => {
  const freeze = {
    id: 'f',
    name: 'Christmas',
    start_time: '2026-12-24T00:00:00Z',
    end_time: new Date('2026-12-27T00:00:00Z'),
    tenant_id: null as string | null,
    environment_id: null as string | null,
    solution_id: null as string | null,
  }
  const subject = {
    tenant_id: 't',
    environment_id: 'e',
    solution_id: null,
    targets: [],
    caller: { may_override_freezes: true, tenant_id: null as string | null },
    override: false,
  }

  test('include their start and exclude their end', () => {
    const at = (moment: string) =>
      judgeFreezes(new FreezeSet([freeze]).presentAt(new Date(moment)), subject).active_freezes
    expect(at('2026-12-23T23:59:59.999Z')).toEqual([])
    expect(at('2026-12-24T00:00:00Z')).toEqual([{ id: 'f', name: 'Christmas', ends_at: '2026-12-27T00:00:00.000Z' }])
    expect(at('2026-12-26T23:59:59.999Z')).toHaveLength(1)
    expect(at('2026-12-27T00:00:00Z')).toEqual([])
  })

  test('apply only if all their ids match', () => {
    const blocks = (ids: Partial<typeof freeze>) => judgeFreezes([{ ...freeze, ...ids }], subject).blocked
    expect(blocks({ tenant_id: 't' })).toBe(true)
    expect(blocks({ tenant_id: 't', environment_id: 'e' })).toBe(true)
    expect(blocks({ tenant_id: 't', environment_id: 'other' })).toBe(false)
    expect(blocks({ tenant_id: 'other', environment_id: 'e' })).toBe(false)
    expect(blocks({ solution_id: 's' })).toBe(false)
  })

  describe('with selected targets', () => {
    const nowhere = { ...subject, tenant_id: null, environment_id: null }
    const place = (tenant_id: string | null, environment_id: string | null, ...target_ids: string[]) => ({
      tenant_id,
      environment_id,
      target_ids,
    })
    const by = (ids: Partial<typeof freeze>, targets: TargetPlace[], request: Partial<FreezePlace> = {}) => {
      const { blocked, active_freezes } = judgeFreezes([{ ...freeze, ...ids }], { ...nowhere, ...request, targets })
      return blocked && (active_freezes[0]?.target_ids ?? 'the request')
    }

    test('apply through the environment or tenant of a target, and the refusal contains the targets', () => {
      const targets = [place(null, 'staging', '1'), place(null, 'production', '2', '3'), place('t', 'production', '4')]
      expect(by({ environment_id: 'production' }, targets)).toEqual(['2', '3', '4'])
      expect(by({ tenant_id: 't' }, targets)).toEqual(['4'])
      expect(by({ environment_id: 'test' }, targets)).toBe(false)
      expect(by({}, targets)).toBe('the request')
    })

    test('apply with both ids if one target, or a target and the request, match them', () => {
      const both = { tenant_id: 't', environment_id: 'production' }
      expect(by(both, [place('t', 'staging', '1'), place('other', 'production', '2')])).toBe(false)
      expect(by(both, [place('t', 'production', '1')])).toEqual(['1'])
      expect(by(both, [place(null, 'production', '1')], { tenant_id: 't' })).toEqual(['1'])
      expect(by(both, [], { tenant_id: 't', environment_id: 'production' })).toBe('the request')
    })

    test('never apply through a target by solution', () => {
      const targets = [place(null, 'production', '1')]
      const ofSolution = { solution_id: 's', environment_id: 'production' }
      expect(by(ofSolution, targets)).toBe(false)
      expect(by(ofSolution, targets, { solution_id: 's' })).toEqual(['1'])
    })

    test('cannot be overridden by an administrator of a tenant if the environment is shared', () => {
      const caller = { may_override_freezes: true, tenant_id: 't' }
      const targets = [place('t', 'production', '1')]
      const judged = judgeFreezes([{ ...freeze, environment_id: 'production' }], {
        ...nowhere,
        caller,
        override: true,
        targets,
      })
      expect(judged).toMatchObject({ blocked: true, can_override: false })
    })
  })

  test('can be overridden by administrators, and by those of a tenant only for freezes of that tenant', () => {
    const ours = { tenant_id: 't' }
    const may = (may_override_freezes: boolean, tenant_id: string | null) => ({ may_override_freezes, tenant_id })
    expect(canOverride(may(false, null), [])).toBe(false)
    expect(canOverride(may(true, null), [ours, freeze])).toBe(true)
    expect(canOverride(may(true, 't'), [ours])).toBe(true)
    expect(canOverride(may(true, 't'), [ours, freeze])).toBe(false)
  })

  test('do not block a caller who overrides them, unless the caller may not override one of them', () => {
    const ours = { ...freeze, id: 'ours', tenant_id: 't' as string | null }
    const overriding = { ...subject, override: true, caller: { may_override_freezes: true, tenant_id: 't' } }
    expect(judgeFreezes([ours], overriding)).toMatchObject({ blocked: false, can_override: true })
    expect(judgeFreezes([ours], { ...overriding, override: false })).toMatchObject({ blocked: true })
    const both = judgeFreezes([ours, freeze], overriding)
    expect([both.blocked, both.can_override, both.active_freezes.length]).toEqual([true, false, 2])
    expect(judgeFreezes([], { ...overriding, override: false }).blocked).toBe(false)
  })
})

describe('log lines', () => {
  const deployment = '8a4f5b8e-1111-4000-8000-00000000000f'

  test('have a unique UUID that never changes', () => {
    expect(lineId(deployment, 0)).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-5[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
    expect(lineId(deployment, 7)).toBe(lineId(deployment, 7))
    expect(new Set(Array.from({ length: 1000 }, (_, seq) => lineId(deployment, seq))).size).toBe(1000)
    expect(lineId(deployment, 1)).not.toBe(lineId(deployment.replace('8a', '8b'), 1))
  })

  test('are split only if too long, and never inside a character', () => {
    expect(splitLine('')).toEqual([''])
    expect(splitLine('a'.repeat(MAX_LINE_BYTES))).toHaveLength(1)
    for (const unit of ['a', 'é', '日', '🚢', 'a🚢é']) {
      const line = unit.repeat(MAX_LINE_BYTES)
      const pieces = splitLine(line)
      expect(pieces.join('')).toBe(line)
      expect(pieces.every((piece) => Buffer.byteLength(piece) <= MAX_LINE_BYTES)).toBe(true)
      // Each piece is full: at most three bytes are free, too few for the next character.
      expect(pieces.slice(0, -1).every((piece) => Buffer.byteLength(piece) > MAX_LINE_BYTES - 4)).toBe(true)
    }
  })
})

test('steps have a unique UUID that is derived from their place', () => {
  const deployment = '8a4f5b8e-1111-4000-8000-00000000000f'
  // Fixed value: the migrations compute the same id in SQL.
  expect(stepId(deployment, 2, 13)).toBe('0ab7dd9f-56fe-8431-8c45-d65ebb97344c')
  expect(stepId(deployment.toUpperCase(), 2, 13)).toBe(stepId(deployment, 2, 13))
  const places = Array.from({ length: 400 }, (_, i) => stepId(deployment, Math.floor(i / 20), i % 20))
  expect(new Set(places).size).toBe(400)
  expect(places.every(isUuid)).toBe(true)
})

test('the id of a step is the MD5 of its place', () => {
  const deployment = '8a4f5b8e-1111-4000-8000-00000000000f'
  for (const target of [999_999_999, 10_000, 10, 0]) {
    for (const action of [99_999, 10, 0]) {
      const hex = createHash('md5').update(`${deployment}/${target}/${action}`).digest('hex')
      expect(stepId(deployment, target, action).replaceAll('-', '')).toBe(
        `${hex.slice(0, 12)}8${hex.slice(13, 16)}8${hex.slice(17)}`,
      )
    }
  }
})

describe('names', () => {
  test.each(['a', 'Store front (EU)', '🚢'.repeat(255), 'é'])('%p is a name', (name) => {
    expect(nameProblems(name)).toEqual([])
  })
  test.each(['', ' a', 'a ', 'a\u00a0', 'a\tb', 'a\0', '\u007f', '\ud800', '🚢'.repeat(256)])(
    '%j is no name',
    (name) => {
      expect(nameProblems(name)).not.toEqual([])
    },
  )

  test('controls of the writing direction and C1 controls are refused, other invisible characters are not', () => {
    const refused = [0x61c, 0x200e, 0x200f, 0x202a, 0x202e, 0x2066, 0x2069, 0x80, 0x9b, 0x9f]
    for (const code of refused)
      expect([code, nameProblems(`a${String.fromCodePoint(code)}b`).length]).toEqual([code, 1])
    for (const code of [0xad, 0x200b, 0x200d, 0x2060, 0xfe0f, 0xfeff, 0xe0061])
      expect([code, nameProblems(`a${String.fromCodePoint(code)}b`)]).toEqual([code, []])
    expect(nameProblems('\u200b\u2060')).not.toEqual([])
  })

  const text = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 20 })
  const invisible = fc.constantFrom(
    '\u00ad',
    '\u034f',
    '\u200b',
    '\u200c',
    '\u200d',
    '\u2060',
    '\u3164',
    '\ufe0f',
    '\ufeff',
  )

  test('the key of a name ignores case, composition and invisible characters, and nothing else', () => {
    fc.assert(
      fc.property(text, fc.array(fc.tuple(fc.nat(20), invisible), { maxLength: 5 }), (name, inserted) => {
        const key = nameKey(name)
        expect(nameKey(key)).toBe(key)
        for (const form of ['NFC', 'NFD'] as const) expect(nameKey(name.normalize(form))).toBe(key)
        const padded = inserted.reduce((text, [at, character]) => {
          const characters = Array.from(text)
          return [...characters.slice(0, at), character, ...characters.slice(at)].join('')
        }, name.normalize('NFC'))
        expect(nameKey(padded)).toBe(key)
        if (!/[ıİ]/.test(name))
          for (const other of [name.toUpperCase(), name.toLowerCase()]) expect(nameKey(other)).toBe(key)
      }),
    )
    const names = ['web', 'web1', 'web 1', 'web-1', 'web_1', 'wéb', 'weß', 'kiz', 'kız', '①', '1', 'ｗｅｂ', 'wеb']
    expect(new Set(names.map(nameKey)).size).toBe(names.length)
    for (const [one, other] of [
      ['Straße', 'STRASSE'],
      ['ΟΔΟΣ', 'οδος'],
      ['caf\u00e9', 'CAFE\u0301'],
      ['web\u00a01', 'web 1'],
    ] as const)
      expect(nameKey(one)).toBe(nameKey(other))
  })

  test('text that cannot be stored is detected at any depth', () => {
    for (const bad of ['a\0', '\udc00', ['x', { y: '\ud800x' }], { 'k\0': 1 }])
      expect(hasUnstorableText(bad)).toBe(true)
    for (const good of ['🚢\n', null, 1, { a: ['b', true] }]) expect(hasUnstorableText(good)).toBe(false)
  })
})
