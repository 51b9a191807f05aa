import { describe, expect, test } from '@jest/globals'
import { roundsOf } from '@slipway/testing'
import fc from 'fast-check'
import { LineSplitter, type OutputLine } from '../src/output/line-splitter.ts'
import { Masker } from '../src/output/masking.ts'

// Programs print secrets in many encodings, cut into chunks at any byte. The masker must hide all of them.

const RUNS = roundsOf(300, 3_000)

/** The lines of an output that is cut into chunks at these places. */
function linesOf(text: string, places: readonly number[], masker: Masker, deadline?: number): string[] {
  const bytes = Buffer.from(text)
  const borders = [...new Set(places.map((place) => place % (bytes.length + 1)))].sort((a, b) => a - b)
  const chunks = [0, ...borders].map((start, index) => bytes.subarray(start, borders[index] ?? bytes.length))
  const splitter = new LineSplitter(masker)
  const lines: OutputLine[] = []
  for (const chunk of chunks) {
    lines.push(...splitter.write(chunk, deadline))
    while (splitter.isBehind) lines.push(...splitter.write(Buffer.alloc(0), deadline))
  }
  return [...lines, ...splitter.end()].map((line) => line.text)
}

const character = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom(...'abcXYZ019_-.~') },
  { weight: 3, arbitrary: fc.constantFrom(...`\\'"%+/ $&=?!#(){}[]<>|;:,@^*\``) },
  { weight: 1, arbitrary: fc.constantFrom('\n', '\t', '\r\n', '\u001b', 'é', 'ß', '日', '😀', '\u2028') },
  { weight: 1, arbitrary: fc.constantFrom('\\n', '\\u0041', '%41', '%25', "'\\''", '""', "'$'", '+') },
)
const secret = fc
  .array(character, { minLength: 4, maxLength: 40 })
  .map((characters) => characters.join(''))
  // A shorter text cannot be marked as sensitive. Blanks around a text are not printed.
  .filter((text) => text.trim().length >= 4 && text === text.trim())
const seed = fc.nat()
const places = fc.array(fc.nat({ max: 10_000 }), { maxLength: 8 })

/** A generator of the choices that an encoder leaves open, from a seed. */
function choices(from: number) {
  let state = from + 1
  return (count: number) => {
    state = (state * 48_271) % 2_147_483_647
    return state % count
  }
}
type Choose = ReturnType<typeof choices>

const hexByte = (byte: number, choose: Choose) => {
  const hex = byte.toString(16).padStart(2, '0')
  return choose(2) === 0 ? hex : hex.toUpperCase()
}
const unicodeEscape = (unit: number, choose: Choose) =>
  `\\u${hexByte(unit >> 8, choose)}${hexByte(unit & 0xff, choose)}`
const units = (text: string) => Array.from({ length: text.length }, (_, index) => text.charCodeAt(index))
const jsonText = (text: string) => JSON.stringify(text).slice(1, -1)

const PERCENT_KEEPS = /[A-Za-z0-9]/
const BASH_KEEPS = /[A-Za-z0-9_./:=@%+,-]/

/** The encodings in which programs print a text. */
const ENCODERS: Record<string, (text: string, choose: Choose) => string> = {
  'in plain text': (text) => text,
  'percent-encoded with any set of safe characters': (text, choose) => {
    const isSafe = new Map<string, boolean>()
    return Array.from(text, (one) => {
      const safe = PERCENT_KEEPS.test(one) ? choose(8) > 0 : choose(2) === 0
      if (!isSafe.has(one)) isSafe.set(one, safe && one.charCodeAt(0) < 128 && !/[%\s]/.test(one))
      if (isSafe.get(one)) return one
      if (one === ' ' && choose(2) === 0) return '+'
      return Array.from(Buffer.from(one), (byte) => `%${hexByte(byte, choose)}`).join('')
    }).join('')
  },
  'percent-encoded twice': (text) => encodeURIComponent(encodeURIComponent(text)),
  'in JSON': jsonText,
  'in JSON in JSON': (text) => jsonText(jsonText(text)),
  'in JSON of ASCII, as Python and Go write it': (text, choose) =>
    jsonText(text).replace(/[^ -~]|[<>&]/g, (unit) => unicodeEscape(unit.charCodeAt(0), choose)),
  'in escapes alone': (text, choose) =>
    units(text)
      .map((unit) => unicodeEscape(unit, choose))
      .join(''),
  'by printf %q of bash': (text) =>
    /[^ -~]/.test(text)
      ? `$'${text.replace(/[\\']/g, '\\$&').replace(/[^ -~]/gu, (one) => ({ '\n': '\\n', '\r': '\\r', '\t': '\\t', '\u001b': '\\E' })[one] ?? octal(one))}'`
      : Array.from(text, (one) => (BASH_KEEPS.test(one) ? one : `\\${one}`)).join(''),
  'by printf %q of GNU': (text) =>
    `'${text.replaceAll("'", "'\\''").replace(/[^ -~]+/gu, (some) => `'$'${Array.from(some, (one) => ({ '\n': '\\n', '\r': '\\r', '\t': '\\t' })[one] ?? octal(one)).join('')}''`)}'`,
  'by shlex.quote of Python': (text) => `'${text.replaceAll("'", `'"'"'`)}'`,
  'in quotes of a shell': (text) => `'${text.replaceAll("'", "'\\''")}'`,
  'in a field of CSV': (text) => `"${text.replaceAll('"', '""')}"`,
  'in bytes as \\xNN, as Python and C write them': (text, choose) =>
    Array.from(text, (one) =>
      /[ -~]/.test(one) && choose(3) > 0
        ? one.replace('\\', '\\\\')
        : Array.from(Buffer.from(one), (byte) => `\\x${hexByte(byte, choose)}`).join(''),
    ).join(''),
  'in characters as \\xNN, as JavaScript and Python write them': (text, choose) =>
    Array.from(text, (one) => {
      const code = one.codePointAt(0) ?? 0
      if (code > 0xff)
        return units(one)
          .map((unit) => unicodeEscape(unit, choose))
          .join('')
      return /[a-z]/i.test(one) ? one : `\\x${hexByte(code, choose)}`
    }).join(''),
  'in hex': (text, choose) => Array.from(Buffer.from(text), (byte) => hexByte(byte, choose)).join(''),
}

function octal(text: string): string {
  return Array.from(Buffer.from(text), (byte) => `\\${byte.toString(8).padStart(3, '0')}`).join('')
}

const HIDDEN = /^<[$'"\\]*(\*\*\*|\s)+['"]*>$/
/** A line of the secret that has a bracket may match a bracket of the text together with the end of the secret. */
const HIDDEN_WITH_ENDS = /^<?[$'"\\]*(\*\*\*|\s)+['"]*>?$/

/** How many quotes and backslashes are left around a secret may depend on where the chunks end. */
const withoutQuotes = (line: string) => line.replace(/[$'"\\]/g, '')

const examples: [secret: string, seed: number, places: number[]][] = [
  ['%41>\n\\a%41', 0, []],
  ['""a日\n\\naa\\\\', 0, [6052]],
]

describe('a secret is hidden', () => {
  test.each(Object.entries(ENCODERS))('%s', (_, encode) => {
    fc.assert(
      fc.property(secret, seed, places, (value, number, at) => {
        const encoded = encode(value, choices(number))
        const masker = new Masker([value])
        const lines = linesOf(`<${encoded}>`, at, masker)
        const written = `<${encoded}>`.split('\n')
        expect(lines).toHaveLength(written.length)
        // Only quotes, backslashes and line ends around the secret may be left.
        expect(lines.join('\n')).toMatch(value.includes('>') || value.includes('<') ? HIDDEN_WITH_ENDS : HIDDEN)
        expect(lines.map(withoutQuotes)).toEqual(linesOf(`<${encoded}>`, [], masker).map(withoutQuotes))
      }),
      { numRuns: RUNS, examples },
    )
  })

  test('in base64 of either alphabet, within a longer text, wrapped at any column', () => {
    const column = fc.oneof(fc.integer({ min: 1, max: 100 }), fc.constantFrom(60, 64, 76, 1_000))
    const around = fc.string({ maxLength: 5 })
    const options = fc.record({ column, before: around, after: around, url: fc.boolean(), crlf: fc.boolean() })
    fc.assert(
      fc.property(secret, options, places, (value, { column: width, before, after, url, crlf }, at) => {
        const encoded = Buffer.from(before + value + after).toString(url ? 'base64url' : 'base64')
        const wrapped = encoded.replace(new RegExp(`.{${width}}(?=.)`, 'g'), crlf ? '$&\r\n' : '$&\n')
        const masker = new Masker([value])
        const lines = linesOf(`${wrapped}\n`, at, masker)
        expect(lines).toHaveLength(wrapped.split('\n').length)
        const left = lines.join('').replaceAll('\r', '').split('***')
        // At each end, one character may be left: it also encodes bits of the surrounding text.
        const characters = (text: string) => Math.ceil((Buffer.byteLength(text) * 4) / 3) + 1
        expect(left.at(0)?.length).toBeLessThanOrEqual(characters(before))
        expect(left.at(-1)?.replace(/=+$/, '').length).toBeLessThanOrEqual(characters(after))
        expect(left.slice(1, -1).join('')).toBe('')
        expect(lines).toEqual(linesOf(`${wrapped}\n`, [], masker))
      }),
      { numRuns: 3 * RUNS },
    )
  })

  test('as a member of JSON, and the JSON itself in every layout', () => {
    const json = fc.dictionary(
      fc.constantFrom('user', 'password', 'port'),
      fc.oneof(secret, fc.integer(), fc.boolean()),
      {
        minKeys: 1,
      },
    )
    const layout = fc.constantFrom<string | number>(0, 2, 4, '\t')
    fc.assert(
      fc.property(json, layout, places, (value, indent, at) => {
        fc.pre(JSON.stringify(value).length > 12)
        const masker = new Masker([value])
        const texts = [JSON.stringify(value, null, indent), JSON.stringify(value).replaceAll('":', '": ')]
        for (const text of texts) {
          const lines = linesOf(`<${text}>`, at, masker)
          expect(lines).toHaveLength(text.split('\n').length)
          if (text === texts[0]) expect(lines.join('\n')).toMatch(/^<(\*\*\*|\s)+>$/)
        }
        for (const member of Object.values(value)) {
          if (JSON.stringify(member).length < 4) continue
          if (typeof member !== 'string') {
            expect(linesOf(`it is ${member}.`, at, masker)).toEqual(['it is ***.'])
            continue
          }
          const lines = linesOf(`password is ${JSON.stringify(member)}.`, at, masker)
          // Two consecutive quotes may encode one quote of the secret, as in CSV.
          expect(lines.join('\n')).toMatch(/^password is "\*\*\*"?\.$/)
        }
      }),
      { numRuns: RUNS },
    )
  })
})

test('the same is hidden as by a search for each text alone, however many there are', () => {
  const text = fc.string({ minLength: 4, maxLength: 9, unit: fc.constantFrom('a', 'b') })
  const output = fc.string({ maxLength: 60, unit: fc.constantFrom('a', 'b', 'b', 'c', '\n') })
  fc.assert(
    fc.property(fc.array(text, { minLength: 1, maxLength: 40 }), output, places, (texts, written, at) => {
      const isHidden = Array.from(written, (_, place) =>
        texts.some((one) =>
          Array.from(one, (_, offset) => place - offset).some((start) => written.startsWith(one, start) && start >= 0),
        ),
      )
      const expected = Array.from(written, (one, place) => (isHidden[place] ? '*' : one)).join('')
      const shown = linesOf(written, at, new Masker(texts)).join('\n')
      expect(shown).toBe(expected.replace(/\*+/g, '***').replace(/\n$/, ''))
    }),
    { numRuns: 3 * RUNS },
  )
})

test('the same is hidden if the search stops after each place', () => {
  const encoder = fc.constantFrom(...Object.values(ENCODERS))
  fc.assert(
    fc.property(secret, encoder, seed, places, (value, encode, number, at) => {
      const written = `${value}<${encode(value, choices(number))}>\n${encode(value, choices(number))}`
      const masker = new Masker([value])
      expect(linesOf(written, at, masker, 0)).toEqual(linesOf(written, at, masker))
    }),
    { numRuns: RUNS },
  )
})

test('a secret is hidden in Latin-1', () => {
  const latin1 = fc.string({
    minLength: 8,
    maxLength: 20,
    unit: fc.constantFrom('a', 'Z', '9', 'ä', 'ß', 'Ã', '¤', 'é'),
  })
  fc.assert(
    fc.property(latin1, places, (value, at) => {
      const bytes = Buffer.from(`<${value}>`, 'latin1')
      const borders = [...new Set(at.map((place) => place % bytes.length))].sort((a, b) => a - b)
      const splitter = new LineSplitter(new Masker([value]))
      const chunks = [0, ...borders].map((start, index) => bytes.subarray(start, borders[index] ?? bytes.length))
      const lines = [...chunks.flatMap((chunk) => splitter.write(chunk)), ...splitter.end()]
      expect(lines.map(({ text }) => text)).toEqual(['<***>'])
    }),
    { numRuns: RUNS },
  )
})

test('lines that are released early show fewer than four characters of a secret', () => {
  fc.assert(
    fc.property(secret, fc.integer({ min: 1, max: 30 }), (value, width) => {
      const encoded = Buffer.from(value).toString('base64')
      const splitter = new LineSplitter(new Masker([value]))
      const lines: string[] = []
      for (const line of encoded.match(new RegExp(`.{1,${width}}`, 'g')) ?? []) {
        for (const { text } of splitter.write(Buffer.from(`${line}\n`))) lines.push(text)
        for (const { text } of splitter.release()) lines.push(text)
      }
      for (const { text } of splitter.end()) lines.push(text)
      expect(lines.join('').replaceAll('***', '').replace(/=+$/, '').length).toBeLessThan(4)
    }),
    { numRuns: RUNS },
  )
})

test('ordinary text is not masked', () => {
  const word = fc.constantFrom(
    ...[
      'deploy',
      'of',
      'web-1',
      '"level":"info"',
      '\\n',
      '\\u00e9',
      '%20',
      "it's",
      'C:\\temp',
      '***',
      '{',
      '}',
      '""',
      '+',
      '=',
    ],
    ...['aGVsbG8=', 'deadbeef', '日本', '😀', "'$'\\n''", '\\"quoted\\"', '100%', '0x1f', '\t', '$(date)'],
  )
  const text = fc.array(
    fc.array(word, { maxLength: 12 }).map((words) => words.join(' ')),
    { maxLength: 12 },
  )
  // Twelve random characters do not match by chance.
  const random = fc.array(fc.constantFrom(...'ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789!?/+%\\\'" '), {
    minLength: 12,
    maxLength: 40,
  })
  const values = fc.array(
    random.map((characters) => `q${characters.join('')}Z`),
    { minLength: 1, maxLength: 6 },
  )
  fc.assert(
    fc.property(values, text, places, (secrets, lines, at) => {
      const written = lines.join('\n')
      const shown = linesOf(written, at, new Masker(secrets))
      expect(shown.join('\n')).toBe(written.endsWith('\n') ? written.slice(0, -1) : written)
    }),
    { numRuns: 4 * RUNS },
  )
})
