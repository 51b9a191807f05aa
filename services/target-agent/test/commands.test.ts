import { randomUUID } from 'node:crypto'
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { LocalTransport } from '@slipway/commands'
import type { AgentCommand, AgentCommandEnd } from '@slipway/contracts'
import { SLIPWAY_VERSION } from '@slipway/runtime'
import { createGate, testLogger, waitFor } from '@slipway/testing'
import { Commands } from '../src/commands/commands.ts'
import type { HostedCommand } from '../src/commands/hosted-command.ts'
import { ContentStore } from '../src/content/content-store.ts'

let folder: string
const closing: Commands[] = []
let transport: LocalTransport

beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'slipway-commands-'))
  mkdirSync(path.join(folder, 'work'))
  transport = new LocalTransport(path.join(folder, 'work'), { machine: 'the target' })
})
afterEach(async () => {
  await Promise.all(closing.splice(0).map((commands) => commands.close()))
  transport.shutDown()
  rmSync(folder, { recursive: true, force: true })
})

async function open({ orphanedAfterMs = 60_000, maxCommands = 10, at = 'commands' } = {}): Promise<Commands> {
  const commands = await Commands.open(path.join(folder, at), {
    transport,
    content: await ContentStore.open(path.join(folder, 'content'), 1_000_000, testLogger),
    maxCommands,
    spoolBytes: 1_000_000,
    orphanedAfterMs,
    logger: testLogger,
  })
  closing.push(commands)
  return commands
}

const idOf = ({ deploymentId = randomUUID() as string, epoch = 1, attempt = 0 } = {}) =>
  `${deploymentId}.${epoch}.0.0.${attempt}`

const commandOf = (script: string, parts: Partial<AgentCommand> = {}): AgentCommand => ({
  version: SLIPWAY_VERSION,
  script,
  interpreter: 'sh',
  environment: {},
  working_directory: null,
  files: [],
  timeout_seconds: null,
  ...parts,
})

/** The last frame of a command that has ended. */
async function endOf(command: HostedCommand): Promise<AgentCommandEnd> {
  await command.ended
  const frames = await command.spool?.read(0, 1_000_000)
  for (let at = 0; ; ) {
    const size = frames?.readUInt32BE(at + 1) ?? 0
    if (frames?.readUInt8(at) === 3) return JSON.parse(frames.subarray(at + 5, at + 5 + size).toString())
    at += 5 + size
  }
}

describe('a command about which no instance asks', () => {
  test('is killed, and its end says why', async () => {
    const commands = await open({ orphanedAfterMs: 300 })
    const id = idOf()
    await commands.start(id, commandOf('exec sleep 600'))
    const end = await endOf(commands.find(id))
    expect(end).toMatchObject({
      confirmed: true,
      error: 'killed: no instance asked about it for 0.3 s',
      reason: 'instance_cut_off',
    })
  })

  test('is not killed if an instance asks about it, silent as it is', async () => {
    const commands = await open({ orphanedAfterMs: 1_000 })
    const gate = createGate({ folder })
    const id = idOf()
    await commands.start(id, commandOf(`${gate.script}; exit 4`))
    const command = commands.find(id)
    // The agent looks for such commands every second.
    for (const until = performance.now() + 2_200; performance.now() < until; await delay(20)) command.noteCall()
    const asking = setInterval(() => command.noteCall(), 20)
    gate.open()
    expect(await endOf(command)).toMatchObject({ exit_code: 4, error: null })
    clearInterval(asking)
  })
})

test('a command starts once, however often it is sent, also after a restart of the agent', async () => {
  const commands = await open()
  const id = idOf()
  const file = path.join(folder, 'starts')
  const command = commandOf(`echo start >>'${file}'`)
  expect(await Promise.all([commands.start(id, command), commands.start(id, command)])).toEqual(['started', 'started'])
  await commands.find(id).ended
  expect(await commands.start(id, command)).toBe('known')
  await commands.forget(id)
  expect(await (await open()).start(id, command)).toBe('known')
  expect(readFileSync(file, 'utf8')).toBe('start\n')
})

test('after a crash of the agent, the end of its commands says that they were killed', async () => {
  const commands = await open()
  const id = idOf()
  const begun = path.join(folder, 'begun')
  await commands.start(id, commandOf(`touch '${begun}'; exec sleep 600`))
  await waitFor(() => existsSync(begun))
  // The folder as it is on the disk now is what a killed agent leaves.
  cpSync(path.join(folder, 'commands'), path.join(folder, 'copy'), { recursive: true })
  const restored = await open({ at: 'copy' })
  expect(restored.live).toEqual([])
  expect(await endOf(restored.find(id))).toMatchObject({
    exit_code: null,
    confirmed: true,
    error: 'the agent was restarted while the command ran; what was left of it was killed',
  })
})

describe('a command is refused', () => {
  test('if another instance has a newer lease of the deployment', async () => {
    const commands = await open()
    const deploymentId = randomUUID()
    await commands.start(idOf({ deploymentId, epoch: 2 }), commandOf('true'))
    await expect(commands.start(idOf({ deploymentId, epoch: 1, attempt: 1 }), commandOf('true'))).rejects.toThrow(
      'Another instance has a newer lease of the deployment',
    )
  })

  test('if the agent runs as many commands as it may', async () => {
    const commands = await open({ maxCommands: 1 })
    await commands.start(idOf(), commandOf('exec sleep 600'))
    await expect(commands.start(idOf(), commandOf('true'))).rejects.toThrow('The agent already runs 1 commands')
  })

  test('if its id is none', async () => {
    const commands = await open()
    expect(() => commands.start('x', commandOf('true'))).toThrow('x is not the id of a command')
  })
})
