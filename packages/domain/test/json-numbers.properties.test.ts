// Numbers that JSON.parse changes are found with their path, whatever stands around them.
import { expect, test } from '@jest/globals'
import { roundsOf } from '@slipway/testing'
import fc from 'fast-check'
import { findChangedNumbers } from '../src/json-numbers.ts'

const RUNS = roundsOf(1_000, 20_000)

const digits = (maxLength: number) =>
  fc.array(fc.constantFrom(...'0123456789'), { minLength: 1, maxLength }).map((all) => all.join(''))
const sign = fc.constantFrom('', '-')
const integer = fc.oneof(digits(20), fc.bigInt({ min: 2n ** 53n - 9n, max: 2n ** 53n + 9n }).map(String))
const exponent = fc.oneof(
  fc.constant(''),
  fc
    .tuple(fc.constantFrom('e', 'E', 'e+', 'e-'), fc.oneof(fc.nat(30), fc.integer({ min: 280, max: 340 })))
    .map(([letter, power]) => `${letter}${power}`),
)
const fraction = fc.oneof(
  fc.constant(''),
  digits(25).map((text) => `.${text}`),
)
const generated = fc
  .tuple(sign, integer, fraction, exponent)
  .map(([minus, whole, rest, power]) => `${minus}${whole.replace(/^0+(?=\d)/, '')}${rest}${power}`)
const number = fc.oneof(
  generated,
  fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => JSON.stringify(value)),
)

/** The number as a fraction of integers. */
function fractionOf(text: string): [numerator: bigint, denominator: bigint] {
  const [, minus, whole = '', rest = '', power = '0'] = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(text) ?? []
  const shift = Number(power) - rest.length
  const value = BigInt(`${whole}${rest}`) * (minus === '-' ? -1n : 1n)
  return shift >= 0 ? [value * 10n ** BigInt(shift), 1n] : [value, 10n ** BigInt(-shift)]
}

/** Whether the text that a script gets from the parsed number names the same number. */
function isKept(text: string): boolean {
  const value = Number(text)
  if (!Number.isFinite(value)) return false
  const [[a, b], [c, d]] = [fractionOf(text), fractionOf(JSON.stringify(value))]
  return a * d === c * b
}

test('a number is refused if and only if its value changes', () => {
  fc.assert(
    fc.property(number, (text) => {
      expect({ text, isKept: findChangedNumbers(text, 1).length === 0 }).toEqual({ text, isKept: isKept(text) })
    }),
    {
      numRuns: RUNS,
      examples: ['1.0', '2.50', '7e3', '0e999', '-0', '1e400', '1e-400', '9007199254740993', '5e-324', '4.9e-324'].map(
        (text): [string] => [text],
      ),
    },
  )
})

test('the path leads to the number, among strings that look like numbers and structure', () => {
  const key = fc.oneof(fc.string({ maxLength: 5 }), fc.constantFrom('a/b', '~', '"', '\\', '{', '1001234567890123457'))
  const { tree } = fc.letrec((tie) => ({
    tree: fc.oneof(
      { depthSize: 'small' },
      fc.constantFrom<unknown>(1, -2.5, null, true, 'BAD'),
      fc.string(),
      fc.constantFrom('1001234567890123457', '"', '\\', ',1e999,'),
      fc.array(tie('tree'), { maxLength: 4 }),
      fc.dictionary(key, tie('tree'), { maxKeys: 4 }),
    ),
  }))
  const escapeKey = (text: string) => text.replaceAll('~', '~0').replaceAll('/', '~1')
  const pathsOf = (value: unknown, path = ''): string[] => {
    if (value === 'BAD') return [path]
    if (typeof value !== 'object' || value === null) return []
    return Object.entries(value).flatMap(([name, item]) => pathsOf(item, `${path}/${escapeKey(name)}`))
  }
  fc.assert(
    fc.property(tree, fc.constantFrom(0, 2), (value, indent) => {
      const text = JSON.stringify(value, null, indent).replaceAll('"BAD"', '1001234567890123457')
      expect(findChangedNumbers(text, 1_000).map(({ path }) => path)).toEqual(pathsOf(value))
    }),
    { numRuns: RUNS },
  )
})
