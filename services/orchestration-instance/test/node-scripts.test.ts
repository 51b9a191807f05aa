import { createHash } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { LocalTransport, type Transport } from '@slipway/commands'
import { AgentHost } from './support/agent-host.ts'
import { startOn } from './support/commands.ts'
import { SshHost } from './support/ssh-host.ts'

type Kind = 'local' | 'ssh' | 'agent'

/** The parent of the folders of commands. Its package.json declares ES modules, as that of a repository may. */
const folder = mkdtempSync(path.join(os.tmpdir(), 'slipway-node-'))
const local = new LocalTransport(folder)
let ssh: SshHost
let agent: AgentHost

beforeAll(async () => {
  ssh = await SshHost.start([`SetEnv TMPDIR=${folder} SHLVL=1`])
  agent = await AgentHost.start()
  for (const place of [folder, agent.agent.folder]) {
    writeFileSync(path.join(place, 'package.json'), '{ "type": "module" }')
  }
})

afterAll(async () => {
  local.shutDown()
  agent?.closeTransports()
  await agent?.remove()
  await ssh?.stop()
  rmSync(folder, { recursive: true, force: true })
})

function transportOf(kind: Kind): Transport {
  if (kind === 'local') return local
  return kind === 'ssh' ? ssh.transport().made : agent.transport({})
}

let sources = 0
function fileOf(name: string, text: string) {
  const source = path.join(folder, `source-${++sources}`)
  writeFileSync(source, text)
  return { source, path: name, mode: '0644', content: createHash('sha256').update(text).digest('hex') }
}

describe.each<Kind>(['local', 'ssh', 'agent'])('a node script on a %s target', (kind) => {
  let attempt = 0
  async function run(script: string, files: ReturnType<typeof fileOf>[] = []) {
    const identity = {
      deploymentId: crypto.randomUUID(),
      epoch: 1,
      target: 0,
      action: 0,
      attempt: attempt++,
      rollback: false,
    }
    const transport = transportOf(kind)
    const { end, output } = startOn(transport, { script, files, interpreter: 'node', identity })
    const { exitCode } = await end
    transport.close()
    return { exitCode, ...output }
  }

  test('is CommonJS, also below a package.json that declares ES modules', async () => {
    const script = `const { basename } = require('node:path')
      console.log(typeof require, typeof module, typeof exports, basename(__filename), this === module.exports)`
    expect(await run(script)).toEqual({
      exitCode: 0,
      stdout: 'function object object script.cjs true\n',
      stderr: '',
    })
  })

  test('loads files of its action as CommonJS', async () => {
    const files = [fileOf('lib/answer.js', 'module.exports = 42')]
    expect(await run(`console.log(require(require('node:path').resolve('lib/answer.js')))`, files)).toMatchObject({
      exitCode: 0,
      stdout: '42\n',
    })
  })

  test('stays CommonJS beside a package.json of its action, which applies only to the files', async () => {
    const files = [fileOf('package.json', '{ "type": "module" }'), fileOf('answer.js', 'export default 42')]
    const script = `console.log(typeof require)
      import(require('node:path').resolve('answer.js')).then((answer) => console.log(answer.default))`
    expect(await run(script, files)).toMatchObject({ exitCode: 0, stdout: 'function\n42\n' })
  })
})
