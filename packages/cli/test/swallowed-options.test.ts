import { expect, test } from '@jest/globals'
import { Option } from 'commander'
import { findSwallowed } from '../src/commands/swallowed-options.ts'
import { runSlipway } from './slipway.ts'

const options = ['--reason <text>', '-t, --target <name>', '--wait', '--timeout [duration]'].map(
  (flags) => new Option(flags),
)

test.each([
  [
    ['deploy', 'x', '--reason', '--wait'],
    ['--reason', '--wait'],
  ],
  [
    ['deploy', 'x', '-t', '--reason', 'why'],
    ['-t', '--reason'],
  ],
  [
    ['deploy', 'x', '--reason', '--help'],
    ['--reason', '--help'],
  ],
  [['deploy', 'x', '--reason=--wait'], null],
  [['deploy', 'x', '--reason', '-5', '--wait'], null],
  [['deploy', 'x', '--timeout', '--wait'], null],
  [['deploy', 'x', '--reason', 'because', '--target', 'y'], null],
  [['deploy', '--', '--reason', '--wait'], null],
])('%j: %j', (words, expected) => {
  expect(findSwallowed(words, options)).toEqual(expected)
})

test('a forgotten reason deploys nothing', async () => {
  const args = ['deploy', 'x', '-t', 'y', '--override-freeze', '--wait']
  expect(await runSlipway('http://127.0.0.1:1', args)).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("option '--override-freeze' needs a value"),
  })
})
