import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { expect, test } from '@jest/globals'
import { FileError, type LocalCommand } from '@slipway/commands'
import { HostedCommand } from '../src/commands/hosted-command.ts'

test('damaged content is reported before the end of the command can be read', async () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'slipway-command-'))
  try {
    const ref = { id: 'command', deploymentId: 'deployment', epoch: 1 }
    const command = await HostedCommand.create(path.join(folder, 'command'), ref, 1_000_000)
    const refused = {
      run: () => Promise.reject(new FileError('the file was damaged', 'content')),
    }
    const order: unknown[] = []
    const script: LocalCommand = {
      script: 'true',
      interpreter: 'sh',
      environment: {},
      workingDirectory: null,
      files: [],
    }
    command.run(refused, script, {
      onDamaged: (id) => order.push(['damaged', id, command.spool?.complete]),
      onOver: () => order.push(['over', command.spool?.complete]),
    })
    await command.ended
    expect(order).toEqual([
      ['damaged', 'content', false],
      ['over', true],
    ])
    await command.forget()
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})
