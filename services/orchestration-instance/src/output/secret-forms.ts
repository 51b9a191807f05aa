import { MIN_SENSITIVE_LENGTH, toText } from '@slipway/domain'
import { alternatesOf, type PatternOptions, SecretPattern } from './secret-pattern.ts'

/** The line lengths of `openssl base64` and of `base64`. */
const BASE64_COLUMNS = [64, 76]
const BASE64 = {
  alternates: alternatesOf([
    ['+', '-'],
    ['/', '_'],
  ]),
}
const HEX = {
  alternates: alternatesOf([...'abcdef'].map((digit) => [digit, digit.toUpperCase()])),
  gap: 'line-break',
} as const

/**
 * A longer text is found in pieces of this many characters. This limits how much output is held back, and how long a search
 * takes in output that repeats nearly the same text.
 */
const PIECE = 512

/** The patterns that find these values, in every form in which programs often print them. */
export function patternsOf(values: Iterable<unknown>): SecretPattern[] {
  const patterns = new Map<string, SecretPattern>()
  const add = (kind: string, text: string, options: PatternOptions = {}) => {
    if (text.length < MIN_SENSITIVE_LENGTH) return
    for (const { piece, at } of piecesOf(text)) {
      const key = `${kind} ${piece}`
      if (!patterns.has(key)) patterns.set(key, new SecretPattern(piece, { ...options, ...shiftedGaps(options, at) }))
    }
  }
  for (const value of values) {
    const json = jsonOf(value)
    if (json !== null) add('json', JSON.stringify(json), jsonGaps(json))
    for (const text of [toText(value), ...stringsIn(json)].flatMap(partsOf)) {
      if (text.length < MIN_SENSITIVE_LENGTH) continue
      const bytes = Buffer.from(text)
      add('plain', text)
      add('hex', bytes.toString('hex'), HEX)
      for (const core of base64Cores(bytes)) add('base64', core, { ...BASE64, gap: 'line-break', hasPadding: true })
      for (const line of base64Lines(bytes)) add('line', line, BASE64)
    }
  }
  return [...patterns.values()]
}

/** Splits a long text into pieces of at least `PIECE` characters, each with its position. */
function piecesOf(text: string): { piece: string; at: number }[] {
  if (text.length < 2 * PIECE) return [{ piece: text, at: 0 }]
  const characters = Array.from(text)
  const count = Math.max(1, Math.floor(characters.length / PIECE))
  return Array.from({ length: count }, (_, index) => ({
    piece: characters.slice(index * PIECE, index + 1 === count ? undefined : (index + 1) * PIECE).join(''),
    at: index * PIECE,
  }))
}

function shiftedGaps({ gapsAt }: PatternOptions, by: number): PatternOptions {
  if (gapsAt === undefined || by === 0) return {}
  return { gapsAt: new Set(Array.from(gapsAt, (place) => place - by)) }
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

function stringsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value]
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(stringsIn) : []
}

/** Allows blanks between the tokens of JSON. */
function jsonGaps(value: object): PatternOptions {
  const gapsAt = new Set<number>()
  let place = 0
  for (const [token] of JSON.stringify(value).matchAll(/"(?:[^"\\]|\\.)*"|[^",:{}[\]]+|./gsu)) {
    gapsAt.add(place)
    place += Array.from(token).length
  }
  return { gap: 'blanks', gapsAt }
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
