import { expect, test } from '@jest/globals'
import { formatRecord } from '../src/terminal/record.ts'

const format = (record: object) => formatRecord('version', record, () => null)

test('a record without an id has no line for it', () => {
  expect(format({ version: '1.0.0' })).toEqual(['version: 1.0.0'])
})

test('a script is printed as it is, with long lines', () => {
  const long = `echo ${'word '.repeat(40)}end`
  const lines = format({ definition: { type: 'script', script: `set -e\n${long}\n` } })
  expect(lines.slice(-4)).toEqual(['  type: script', '  script: |', '    set -e', `    ${long}`])
})
