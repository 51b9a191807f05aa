// scripts/phase.sh, which hides the output of a part of a start unless the part fails.
import { spawnSync } from 'node:child_process'
import { expect, test } from '@jest/globals'
import { repositoryRoot } from '@slipway/testing'

const phase = (command: string) => {
  const options = { cwd: repositoryRoot, encoding: 'utf8' } as const
  const { status, stdout, stderr } = spawnSync('scripts/phase.sh', ['build', 'sh', '-c', command], options)
  return { status, stdout, stderr }
}

test('a part that succeeds at once prints nothing, not even its warnings', () => {
  expect(phase('echo done; echo a warning >&2')).toEqual({ status: 0, stdout: '', stderr: '' })
})

test('a part that fails prints all of its output, and keeps its exit code', () => {
  const ended = phase('echo first; echo why >&2; exit 3')
  expect(ended.status).toBe(3)
  expect(ended.stderr).toMatch(/^first\nwhy\nslipway: build failed after \d+ s\n$/)
})
