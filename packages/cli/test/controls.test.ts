// Text of the server must not steer the terminal of its reader.
import { expect, test } from '@jest/globals'
import { parse } from 'yaml'
import { escapeControls, sanitize } from '../src/terminal/controls.ts'
import { formatYaml } from '../src/terminal/yaml.ts'

const HOSTILE = [
  '\u009b31mred',
  'a\u202egpj.exe',
  '\u2066x\u2069',
  'line\u0085two',
  'plain',
  'two\nlines \u200f\n',
  '\u001b[2J',
]
const DECEIVING = /[\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/

test('tables show no control characters', () => {
  expect(HOSTILE.map(sanitize).join('')).not.toMatch(/\p{Cc}/u)
  expect(HOSTILE.map(sanitize).join('')).not.toMatch(DECEIVING)
  expect(sanitize('a\tb')).toBe('a\tb')
})

test('JSON and YAML escape them, and the values stay the same', () => {
  const value = { list: HOSTILE, [HOSTILE[1] ?? '']: 1 }
  const json = escapeControls(JSON.stringify(value))
  expect(json).not.toMatch(DECEIVING)
  expect(JSON.parse(json)).toEqual(value)
  const yaml = formatYaml(value)
  expect(yaml).not.toMatch(DECEIVING)
  expect(parse(yaml)).toEqual(value)
})
