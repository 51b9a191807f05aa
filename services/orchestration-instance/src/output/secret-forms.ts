import { MIN_SENSITIVE_LENGTH, secretTexts, toText } from '@slipway/domain'
import { PATTERNS_PER_STEP, type Pattern, type PatternKind } from './pattern-set.ts'

/** The line lengths of `openssl base64` and of `base64`. */
const BASE64_COLUMNS = [64, 76]
const BASE64_ALPHABETS = [
  ['+', '-'],
  ['/', '_'],
] as const
const HEX_DIGITS = [...'abcdef'].map((digit) => [digit, digit.toUpperCase()] as const)

const KINDS = {
  plain: {},
  hex: { alternates: HEX_DIGITS, gap: 'line-break' },
  base64: { alternates: BASE64_ALPHABETS, gap: 'line-break', hasPadding: true },
  base64Line: { alternates: BASE64_ALPHABETS },
  json: { gap: 'blanks' },
} as const satisfies Record<string, PatternKind>

/**
 * A longer text is found in pieces of this many characters. This limits how much output is held back, and how long a search
 * takes in output that repeats nearly the same text.
 */
const PIECE = 64

/** The patterns that find these values, in every form in which programs often print them. Makes them in short steps. */
export function* patternsOf(
  values: Iterable<unknown>,
): Generator<void, { kind: PatternKind; patterns: readonly Pattern[] }[]> {
  const found = Object.entries(KINDS).map(([name, kind]) => ({ name, kind, patterns: new Map<string, Pattern>() }))
  function* add(name: keyof typeof KINDS, text: string, gaps?: Uint8Array): Generator<void, void> {
    if (text.length < MIN_SENSITIVE_LENGTH) return
    const patterns = found.find((each) => each.name === name)?.patterns
    let count = 0
    for (const { piece, at } of piecesOf(text)) {
      count += 1
      if (count % PATTERNS_PER_STEP === 0) yield
      if (!patterns?.has(piece)) patterns?.set(piece, { text: piece, ...(gaps && { gaps: gaps.subarray(at) }) })
    }
  }
  const texts = new Set<string>()
  for (const value of values) {
    yield
    const json = jsonOf(value)
    if (json !== null) {
      const text = JSON.stringify(json)
      yield* add('json', text, yield* jsonGaps(text))
      yield
    }
    for (const text of [toText(value), ...secretTexts(value)]) for (const part of partsOf(text)) texts.add(part)
  }
  for (const text of texts) {
    if (text.length < MIN_SENSITIVE_LENGTH) continue
    yield
    const bytes = Buffer.from(text)
    yield* add('plain', text)
    yield* add('plain', inLatin1(text))
    yield* add('hex', bytes.toString('hex'))
    for (const core of base64Cores(bytes)) yield* add('base64', core)
    for (const line of base64Lines(bytes)) yield* add('base64Line', line)
  }
  return found.map(({ kind, patterns }) => ({ kind, patterns: [...patterns.values()] }))
}

/** What is left of the text if a program prints it in Latin-1 and the output is read as UTF-8. */
function inLatin1(text: string): string {
  return /^[\0-\xff]*$/.test(text) ? Buffer.from(text, 'latin1').toString('utf8') : ''
}

/** Splits a long text into pieces of about `PIECE` code units or more, each with its position in characters. */
function* piecesOf(text: string): Generator<{ piece: string; at: number }> {
  let at = 0
  for (let from = 0, to = 0; from < text.length; from = to) {
    to = from + PIECE
    // The second half of a character belongs to its first half.
    if ((text.codePointAt(to - 1) ?? 0) > 0xffff) to += 1
    if (text.length - to < PIECE) to = text.length
    const piece = text.slice(from, to)
    yield { piece, at }
    for (const _ of piece) at += 1
  }
}

/** The whole text and each of its lines, because a program may print them separately or indented. */
function partsOf(text: string): string[] {
  return [text, text.trim(), ...text.split(/[\r\n]+/).map((line) => line.trim())]
}

/** The object or list, given directly or as JSON; null for any other value. */
function jsonOf(value: unknown): object | null {
  if (typeof value === 'object') return value
  if (typeof value !== 'string' || !/^\s*[[{]/.test(value)) return null
  try {
    return JSON.parse(value) as object
  } catch {
    return null
  }
}

/** The places between the tokens of JSON, where blanks may stand. */
function* jsonGaps(json: string): Generator<void, Uint8Array> {
  const gaps = new Uint8Array(json.length)
  let place = 0
  for (const [token] of json.matchAll(/"[^"\\]*(?:\\.[^"\\]*)*"|[^",:{}[\]]+|./gs)) {
    if (place % PATTERNS_PER_STEP === 0) yield
    gaps[place] = 1
    // A character of two code units is one place.
    for (const _ of token) place += 1
  }
  return gaps
}

/**
 * Base64 encodes groups of three bytes, and a text can start at any of the three positions of a group. For each position,
 * returns the characters that depend on the text alone.
 */
function base64Cores(bytes: Buffer): string[] {
  const cores = [0, 1, 2].map((before) => {
    const encoded = withoutPadding(Buffer.concat([Buffer.alloc(before), bytes]).toString('base64'))
    const isComplete = (before + bytes.length) % 3 === 0
    return encoded.slice(Math.ceil((before * 4) / 3), isComplete ? undefined : -1)
  })
  return [...cores, withoutPadding(bytes.toString('base64'))]
}

/** The separate lines of a long text in base64, because a program may print only some of them. */
function base64Lines(bytes: Buffer): string[] {
  const encoded = bytes.toString('base64')
  return BASE64_COLUMNS.flatMap((column) =>
    encoded.length <= column ? [] : (encoded.match(new RegExp(`.{1,${column}}`, 'g')) ?? []),
  )
}

const withoutPadding = (encoded: string) => encoded.replace(/=+$/, '')
