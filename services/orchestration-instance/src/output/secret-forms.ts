import { MIN_SENSITIVE_LENGTH, toText } from '@slipway/domain'
import { alternatesOf, type PatternOptions, SecretPattern } from './secret-pattern.ts'

/** `openssl base64` breaks its lines at the first column, `base64` at the second. */
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
 * A longer text is found piece by piece. This bounds how much output is kept back because a secret may begin in it, and how
 * long a search takes in output that consists of nearly the same text.
 */
const PIECE = 512

/** The patterns that find these values, in every form in which programs like to print them. */
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

/** Pieces of at least `PIECE` characters, if there are so many, and where each begins. */
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

/** The text as a whole, and each of its lines: they may be printed apart, or indented. */
function partsOf(text: string): string[] {
  return [text, text.trim(), ...text.split(/[\r\n]+/).map((line) => line.trim())]
}

/** What an object or a list is, given as such or as its JSON; null for anything else. */
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

/** Programs put blanks between the tokens of JSON. */
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
 * A text can begin at each of three places within the groups of three bytes that base64 encodes. At each, some characters
 * depend on the text alone. If the text stands alone, so does the last character.
 */
function base64Cores(bytes: Buffer): string[] {
  const cores = [0, 1, 2].map((before) => {
    const encoded = withoutPadding(Buffer.concat([Buffer.alloc(before), bytes]).toString('base64'))
    const isComplete = (before + bytes.length) % 3 === 0
    return encoded.slice(Math.ceil((before * 4) / 3), isComplete ? undefined : -1)
  })
  return [...cores, withoutPadding(bytes.toString('base64'))]
}

/** The lines of a long text in base64, each for itself: a program may print only some of them. */
function base64Lines(bytes: Buffer): string[] {
  const encoded = bytes.toString('base64')
  return BASE64_COLUMNS.flatMap((column) =>
    encoded.length <= column ? [] : (encoded.match(new RegExp(`.{1,${column}}`, 'g')) ?? []),
  )
}

const withoutPadding = (encoded: string) => encoded.replace(/=+$/, '')
