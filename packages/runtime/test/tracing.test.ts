import { afterEach, describe, expect, test } from '@jest/globals'
import { currentContext, currentTraceparent, forRequest, parseTraceparent, traced } from '../src/index.ts'
import { recordSpans, type SpanOptions } from '../src/tracing/spans.ts'

const GIVEN = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01'
const TRACE = GIVEN.split('-')[1]

describe('a traceparent', () => {
  test.each([
    [GIVEN, '01'],
    [GIVEN.replace(/01$/, '00'), '00'],
    // Flags and versions that are still to come.
    [GIVEN.replace(/01$/, 'fd'), '01'],
    [`01${GIVEN.slice(2)}-more`, '01'],
  ])('%s is read', (text, flags) => {
    expect(parseTraceparent(text)).toEqual({ trace_id: TRACE, span_id: '00f067aa0ba902b7', trace_flags: flags })
  })

  test.each([
    undefined,
    '',
    'nonsense',
    GIVEN.toUpperCase(),
    `${GIVEN}-more`,
    `ff${GIVEN.slice(2)}`,
    GIVEN.replace(/4bf.{29}/, '0'.repeat(32)),
    GIVEN.replace('00f067aa0ba902b7', '0'.repeat(16)),
    `${GIVEN}\r\nx-injected: 1`,
  ])('%j is none', (text) => {
    expect(parseTraceparent(text)).toBeNull()
  })
})

describe('while nobody collects spans', () => {
  test('a trace that came along is passed on as it came, and its id is in the context', async () => {
    await traced('x', { kind: 'server', parent: GIVEN, begins: true }, async () => {
      await new Promise((resolve) => setTimeout(resolve, 1))
      expect(currentTraceparent()).toBe(GIVEN)
      expect(currentContext()['trace_id']).toBe(TRACE)
    })
    expect(currentTraceparent()).toBeNull()
  })

  test('one begins where it may, and nowhere else', () => {
    expect(traced('x', { kind: 'server', begins: true }, currentTraceparent)).toMatch(/^00-\w{32}-\w{16}-00$/)
    expect(traced('x', { kind: 'consumer', parent: null }, currentTraceparent)).toBeNull()
    expect(traced('x', { kind: 'internal' }, currentTraceparent)).toBeNull()
  })

  test('work that came without a trace does not take part in the one around it', () => {
    const inside = (parent: string | null) =>
      traced('x', { kind: 'server', begins: true }, () => traced('y', { kind: 'consumer', parent }, currentTraceparent))
    expect(inside(null)).toBeNull()
    expect(inside(GIVEN)).toBe(GIVEN)
  })
})

test('what is done for a request is of its trace, below what is current there', () => {
  const of = (traceparent: string | null) => forRequest({ request_id: 'r-1', traceparent }, () => currentContext())
  expect(of(GIVEN)).toMatchObject({ request_id: 'r-1', trace_id: TRACE, span_id: '00f067aa0ba902b7' })
  const below = GIVEN.replace('00f067aa0ba902b7', 'b'.repeat(16))
  expect(traced('x', { kind: 'consumer', parent: below }, () => of(GIVEN))).toMatchObject({ span_id: 'b'.repeat(16) })
  const other = GIVEN.replace(String(TRACE), 'c'.repeat(32))
  expect(traced('x', { kind: 'consumer', parent: other }, () => of(GIVEN))).toMatchObject({ trace_id: TRACE })
  expect(traced('x', { kind: 'consumer', parent: other }, () => of(null))['trace_id']).toBeUndefined()
})

describe('while spans are collected', () => {
  const spans: { name: string; options: SpanOptions; parent: string | undefined; failed?: string; ended: boolean }[] =
    []
  afterEach(() => {
    recordSpans(null)
    spans.length = 0
  })
  const collect = () =>
    recordSpans({
      start(name, options, parent) {
        const span = { name, options, parent: parent?.span_id, ended: false } as (typeof spans)[number]
        spans.push(span)
        const span_id = String(spans.length).padStart(16, '0')
        return {
          trace: { trace_id: parent?.trace_id ?? 'a'.repeat(32), span_id, trace_flags: '01' },
          span: {
            rename: (to) => void Object.assign(span, { name: to }),
            set: () => {},
            fail: (reason) => void Object.assign(span, { failed: reason }),
          },
          end: () => void Object.assign(span, { ended: true }),
        }
      },
    })

  test('each has the one around it as its parent, and ends with its work', async () => {
    collect()
    await traced('outer', { kind: 'server', begins: true, parent: GIVEN }, async (span) => {
      span.rename('renamed')
      await traced('inner', { kind: 'internal' }, async () => {
        await Promise.resolve()
        expect(spans.map(({ ended }) => ended)).toEqual([false, false])
        expect(currentTraceparent()).toBe(`00-${TRACE}-0000000000000002-01`)
      })
      expect(spans[1]?.ended).toBe(true)
    })
    expect(spans).toMatchObject([
      { name: 'renamed', parent: '00f067aa0ba902b7', ended: true },
      { name: 'inner', parent: '0000000000000001', ended: true },
    ])
  })

  test('what failed says so by the name of the error alone, which may tell secrets', async () => {
    collect()
    const failing = traced('x', { kind: 'internal', parent: GIVEN }, async () => {
      throw new TypeError('the password is hunter2')
    })
    await expect(failing).rejects.toThrow('hunter2')
    expect(() =>
      traced('y', { kind: 'internal', parent: GIVEN }, () => {
        throw new RangeError('hunter2')
      }),
    ).toThrow('hunter2')
    expect(spans).toMatchObject([
      { failed: 'TypeError', ended: true },
      { failed: 'RangeError', ended: true },
    ])
  })
})
