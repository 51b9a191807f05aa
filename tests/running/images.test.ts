import { execFileSync } from 'node:child_process'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { expect, test } from '@jest/globals'
import { repositoryRoot } from '@slipway/testing'
import { said } from '../rules/dockerfile.ts'

test('the image of the command line uses its npm package', () => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'slipway-cli-image-'))
  try {
    const [script = '', ...args] = (said('cli-files', 'RUN')[0] ?? '').replace('/deployed', folder).split(' ').slice(1)
    execFileSync(process.execPath, [script, ...args], { cwd: repositoryRoot })
    expect(said('cli', 'COPY')).toEqual(['--from=cli-files /deployed ./'])
    const [entry = '[]'] = said('cli', 'ENTRYPOINT')
    const [program = ''] = (JSON.parse(entry) as string[]).slice(-1)
    const printed = execFileSync(process.execPath, [program.replace('/app', folder), '--version'], {
      encoding: 'utf8',
    })
    expect(printed).toBe(`${JSON.parse(fs.readFileSync(path.join(repositoryRoot, 'package.json'), 'utf8')).version}\n`)
  } finally {
    fs.rmSync(folder, { recursive: true, force: true })
  }
})
