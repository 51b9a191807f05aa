// A value that a person writes arrives as it is written, or is refused with its place.
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { afterAll, expect, test } from '@jest/globals'
import { roundsOf } from '@slipway/testing'
import fc from 'fast-check'
import { parseAssignment, readVariables } from '../src/commands/values.ts'
import { readDocuments } from '../src/files/document.ts'
import { formatDocuments } from '../src/files/export.ts'

const RUNS = roundsOf(150, 10_000)
const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'slipway-values-'))
afterAll(() => fs.rmSync(folder, { recursive: true }))

const write = (name: string, text: string | Buffer) => {
  const file = path.join(folder, name)
  fs.writeFileSync(file, text)
  return file
}

/** Returns the message, with paths that begin at the folder. */
function messageOf(read: () => unknown): string {
  try {
    return `read ${JSON.stringify(read())}`
  } catch (error) {
    return (error as Error).message.replaceAll(`${folder}/`, '')
  }
}

/** The text that a script gets. */
const toText = (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value))

const WRITTEN = [
  ...['1.10', '01234', '1234567e5', '.inf', '-.INF', '.nan', '.NaN', '0x1F', '0o17', '1_000', '+5', '-0', '1.', '.5'],
  ...['yes', 'No', 'on', 'off', 'True', 'FALSE', 'true', 'Null', '~', 'null', '2026-11-29', '2026-11-29T10:00:00Z'],
  ...['1:30', '1:30:00', '190:20:30', '1001234567890123457', '1e400', '1e-400', '80', '-1.5', '1e21', '1e+21', '5e-7'],
  ...['!!int 08', '!!float 1', '!!binary aGVsbG8=', '!env HOME', '1.4.0', 'NaN', 'Infinity', '0b11', '1e5', '12e03'],
]
const number = fc
  .tuple(
    fc.constantFrom('', '-', '+', '0', '.', '0x', '0o'),
    fc.array(fc.constantFrom(...'0123456789'), { minLength: 1, maxLength: 20 }).map((all) => all.join('')),
    fc.constantFrom('', '.', '.0', '.10', '.5', '_000', ':30', 'e5', 'E5', 'e+3', 'e-3', '.25e1'),
  )
  .map((parts) => parts.join(''))
const written = fc.oneof(
  number,
  fc.constantFrom(...WRITTEN),
  fc.double({ noNaN: true }).map((value) => JSON.stringify(value)),
)
const examples = WRITTEN.map((text): [string] => [text])

test('a scalar of a variable file arrives as it is written, or is refused with line and column', () => {
  fc.assert(
    fc.property(written, (text) => {
      const file = write('vars.yaml', `first: 1\nvalue: ${text}\n`)
      let value: unknown
      try {
        value = readVariables([file])?.['value']
      } catch (error) {
        expect((error as Error).message).toMatch(/vars\.yaml:2:\d+: /)
        return
      }
      expect(toText(value)).toBe(text)
    }),
    { numRuns: RUNS, examples },
  )
})

test('a value after := arrives with its digits, or is refused', () => {
  fc.assert(
    fc.property(written, (text) => {
      let value: unknown
      try {
        value = parseAssignment(`value:=${text}`)[1]
      } catch {
        return
      }
      expect(toText(value)).toBe(text)
    }),
    { numRuns: RUNS, examples },
  )
})

test('numbers that keep their digits are accepted', () => {
  fc.assert(
    fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (value) => {
      const text = JSON.stringify(value)
      expect(parseAssignment(`value:=${text}`)).toEqual(['value', Number(text)])
      expect(readVariables([write('vars.json', `{"value": ${text}}`)])).toEqual({ value: Number(text) })
    }),
    { numRuns: RUNS },
  )
})

test('what would change is named with its place', () => {
  const read = (text: string) => messageOf(() => readVariables([write('vars.yaml', text)]))
  const digits =
    'this number would not arrive with the digits that are written: write it in quotes, or as JSON prints it'
  expect(read('a: 1\nlist:\n  - { version: 1.10 }\n  - 01234\n')).toBe(
    `vars.yaml:3:16: version: ${digits}\nvars.yaml:4:5: ${digits}`,
  )
  expect(read('empty:\nhome: ~\n')).toBe(
    'vars.yaml:1:7: empty: has no value: write "" for an empty text, or null\n' +
      'vars.yaml:2:7: home: this is read as null: write null, or the text in quotes',
  )
  expect(read('password: !env DB_PASSWORD')).toBe('vars.yaml:1:11: Unresolved tag: !env')
  expect(read('base: &base { a: 1 }\nall: { <<: *base }')).toMatch(/^vars\.yaml:2:8: << merges nothing here/)
  expect(read('map: { 1.10: x, null: y }')).toBe(
    'vars.yaml:1:8: this key would change: write it in quotes\nvars.yaml:1:17: this key would change: write it in quotes',
  )
  expect(read('%YAML 1.1\n---\na: yes\nb: 2026-11-29\nc: 1:30')).toMatch(/:3:4: .*\n.*:4:4: .*\n.*:5:4: /)
  expect(messageOf(() => parseAssignment('a:={"b": "1.10",\n "c": [1.10]}'))).toMatch(/ at line 2, column 8 would not /)
  const latin1 = write('vars.env', Buffer.from('a=1\nb=caf\xe9\n', 'latin1'))
  expect(messageOf(() => readVariables([latin1]))).toBe('vars.env:2: is not UTF-8 from here on: save the file as UTF-8')
  expect(readVariables([write('vars.env', 'a=1.10\r\nb= x \r\n')])).toEqual({ a: '1.10', b: ' x ' })
})

test('what export writes, apply reads without a change', () => {
  const text = fc.oneof(
    written,
    fc.string({ unit: 'binary' }),
    fc.string({ unit: fc.constantFrom(...' \t\r\n#:-?|>%@`\'"{}[]&*!,=<\u0085\u2028\ufeff\u0000a') }),
    fc.constantFrom('<<', '---', '...', '%YAML 1.1', '# x', 'a: b', '- a'),
  )
  const { tree } = fc.letrec((tie) => ({
    tree: fc.oneof(
      { depthSize: 'small' },
      text,
      fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => Number(JSON.stringify(value))),
      fc.constantFrom(null, true, false, 1e21, 1_001_234_567_890_123_500),
      fc.array(tie('tree'), { maxLength: 4 }),
      fc.dictionary(text, tie('tree'), { maxKeys: 4 }),
    ),
  }))
  fc.assert(
    fc.property(fc.array(tree, { minLength: 1, maxLength: 3 }), (values) => {
      const documents = values.map((value) => ({ kind: 'tenant', variables: { value } }))
      const file = write('export.yaml', formatDocuments(documents))
      expect(
        readDocuments(
          { file, folder: path.dirname(file) },
          {
            env: {},
            rules: { root: path.dirname(file), allowOutside: false, allowedVariables: new Set() },
            reads: { files: new Set(), variables: new Set() },
          },
        ).map(({ document }) => document?.value),
      ).toEqual(documents)
    }),
    { numRuns: RUNS, examples: [[[' \n', '\n \n', ' \n\tx', ' x\n']]] },
  )
})
