import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals'
import { trace } from '@opentelemetry/api'
import { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base'
import { currentContext, currentTraceparent, forRequest, parseTraceparent, SpanKind, traced } from '../src/index.ts'

const GIVEN = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01'
const TRACE = GIVEN.split('-')[1]

describe('parsing a traceparent', () => {
  test.each([
    [GIVEN, '01'],
    [GIVEN.replace(/01$/, '00'), '00'],
    // Flags and versions of future specifications.
    [GIVEN.replace(/01$/, 'fd'), '01'],
    [`01${GIVEN.slice(2)}-more`, '01'],
  ])('accepts %s', (text, flags) => {
    expect(parseTraceparent(text)).toMatchObject({
      traceId: TRACE,
      spanId: '00f067aa0ba902b7',
      traceFlags: Number(flags),
    })
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
  ])('refuses %j', (text) => {
    expect(parseTraceparent(text)).toBeNull()
  })
})

describe('without a span processor', () => {
  test('the trace of a request is passed on unchanged, and its id is in the context', async () => {
    await traced('x', { kind: SpanKind.SERVER, parent: GIVEN, begins: true }, async () => {
      await new Promise((resolve) => setTimeout(resolve, 1))
      expect(currentTraceparent()).toBe(GIVEN)
      expect(currentContext()['trace_id']).toBe(TRACE)
    })
    expect(currentTraceparent()).toBeNull()
  })

  test('a trace begins only where the caller allows it', () => {
    expect(traced('x', { kind: SpanKind.SERVER, begins: true }, currentTraceparent)).toMatch(/^00-\w{32}-\w{16}-00$/)
    expect(traced('x', { kind: SpanKind.CONSUMER, parent: null }, currentTraceparent)).toBeNull()
    expect(traced('x', { kind: SpanKind.INTERNAL }, currentTraceparent)).toBeNull()
  })

  test('work without a trace does not join the surrounding trace', () => {
    const inside = (parent: string | null) =>
      traced('x', { kind: SpanKind.SERVER, begins: true }, () =>
        traced('y', { kind: SpanKind.CONSUMER, parent }, currentTraceparent),
      )
    expect(inside(null)).toBeNull()
    expect(inside(GIVEN)).toBe(GIVEN)
  })
})

test('the context of a request has its trace, and the current span if that belongs to the same trace', () => {
  const of = (traceparent: string | null) => forRequest({ request_id: 'r-1', traceparent }, () => currentContext())
  expect(of(GIVEN)).toMatchObject({ request_id: 'r-1', trace_id: TRACE, span_id: '00f067aa0ba902b7' })
  const below = GIVEN.replace('00f067aa0ba902b7', 'b'.repeat(16))
  expect(traced('x', { kind: SpanKind.CONSUMER, parent: below }, () => of(GIVEN))).toMatchObject({
    span_id: 'b'.repeat(16),
  })
  const other = GIVEN.replace(String(TRACE), 'c'.repeat(32))
  expect(traced('x', { kind: SpanKind.CONSUMER, parent: other }, () => of(GIVEN))).toMatchObject({ trace_id: TRACE })
  expect(traced('x', { kind: SpanKind.CONSUMER, parent: other }, () => of(null))['trace_id']).toBeUndefined()
})

describe('with a span processor', () => {
  const exporter = new InMemorySpanExporter()
  beforeAll(() => {
    trace.setGlobalTracerProvider(new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] }))
  })
  afterEach(() => exporter.reset())
  afterAll(() => trace.disable())

  const ended = () => exporter.getFinishedSpans().map(({ name }) => name)

  test('a span has the surrounding span as its parent and ends with its work', async () => {
    let outer: string | null = null
    await traced('outer', { kind: SpanKind.SERVER, begins: true, parent: GIVEN }, async (span) => {
      span.updateName('renamed')
      outer = span.spanContext().spanId
      await traced('inner', { kind: SpanKind.INTERNAL }, async () => {
        await Promise.resolve()
        expect(ended()).toEqual([])
        expect(currentTraceparent()).toMatch(new RegExp(`^00-${TRACE}-\\w{16}-01$`))
      })
      expect(ended()).toEqual(['inner'])
    })
    expect(exporter.getFinishedSpans()).toMatchObject([
      { name: 'inner', parentSpanContext: { spanId: outer } },
      { name: 'renamed', parentSpanContext: { spanId: '00f067aa0ba902b7' } },
    ])
  })

  test('a failed span records only the name of the error, because its message may contain secrets', async () => {
    const failing = traced('x', { kind: SpanKind.INTERNAL, parent: GIVEN }, async () => {
      throw new TypeError('the password is hunter2')
    })
    await expect(failing).rejects.toThrow('hunter2')
    expect(() =>
      traced('y', { kind: SpanKind.INTERNAL, parent: GIVEN }, () => {
        throw new RangeError('hunter2')
      }),
    ).toThrow('hunter2')
    expect(exporter.getFinishedSpans().map(({ status }) => status.message)).toEqual(['TypeError', 'RangeError'])
  })
})
