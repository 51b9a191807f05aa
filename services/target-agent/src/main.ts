import { mkdir, rm } from 'node:fs/promises'
import path from 'node:path'
import { LocalTransport } from '@slipway/commands'
import { BridgeConnections, ConfigurationError, loadConfig, runService, SLIPWAY_VERSION, sleep } from '@slipway/runtime'
import { ENROL_USAGE, enrol } from './bridge/enrol.ts'
import { Heartbeats } from './bridge/heartbeats.ts'
import { Commands } from './commands/commands.ts'
import { type AgentConfig, agentConfig } from './config.ts'
import { ContentStore } from './content/content-store.ts'
import { createApp } from './http/app.ts'
import { serve } from './http/server.ts'
import { Identity } from './identity/identity.ts'

const MIB = 1024 * 1024
/** The time in which instances can fetch the end of killed commands before the agent stops. */
const LAST_FETCH_MS = 1_000
const EXIT_USAGE = 64
const EXIT_CONFIGURATION = 78

const [word, ...args] = process.argv.slice(2)
if (word === undefined || word === 'serve') await serveInstances()
else if (word === 'enrol') process.exitCode = await enrolHere(args)
else if (word === '--version') process.stdout.write(`${SLIPWAY_VERSION}\n`)
else {
  process.stderr.write(`target-agent [serve]\n${ENROL_USAGE}\ntarget-agent --version\n`)
  process.exitCode = word === '--help' ? 0 : EXIT_USAGE
}

async function enrolHere(words: string[]): Promise<number> {
  let config: AgentConfig
  try {
    config = loadConfig(agentConfig)
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error
    process.stderr.write(`${error.message}\n`)
    return EXIT_CONFIGURATION
  }
  return enrol(words, config)
}

function serveInstances(): Promise<void> {
  return runService({
    name: 'target-agent',
    config: agentConfig,
    async start({ config, logger, onStop }) {
      const connections = new BridgeConnections({
        caFile: config.SLIPWAY_BRIDGE_CA_FILE,
        urlSetting: 'the URL that the agent enrolled with',
        logger,
      })
      const folder = path.resolve(config.SLIPWAY_AGENT_STATE_DIR)
      await mkdir(folder, { recursive: true, mode: 0o700 })
      const identity = new Identity(folder)

      // The port comes first: the folder may belong to a running agent, which has this port.
      const address = {
        host: config.SLIPWAY_AGENT_HOST,
        port: config.SLIPWAY_AGENT_PORT,
        variable: 'SLIPWAY_AGENT_PORT',
      }
      const server = await serve(address, identity, logger)
      onStop('server', () => server.close())

      // A killed agent leaves directories of commands.
      const work = path.join(folder, 'work')
      await rm(work, { recursive: true, force: true })
      await mkdir(work, { mode: 0o700 })
      const transport = new LocalTransport(work, {
        machine: 'the target',
        // The agent belongs to its host, and so does its PATH.
        ...(process.env['PATH'] && { searchPath: process.env['PATH'] }),
      })
      onStop('commands of the machine', () => transport.shutDown())

      const orphanedAfterMs = config.SLIPWAY_AGENT_ORPHAN_SECONDS * 1_000
      const maxContentBytes = config.SLIPWAY_AGENT_CONTENT_CACHE_MIB * MIB
      const content = await ContentStore.open(path.join(folder, 'content'), maxContentBytes, logger)
      const commands = await Commands.open(path.join(folder, 'commands'), {
        transport,
        content,
        maxCommands: config.SLIPWAY_AGENT_COMMANDS,
        spoolBytes: config.SLIPWAY_AGENT_SPOOL_MIB * MIB,
        orphanedAfterMs,
        logger,
      })

      server.setHandler(createApp({ commands, content, orphanedAfterMs }, logger))
      const heartbeats = new Heartbeats({
        connections,
        identity,
        address: config.SLIPWAY_AGENT_ADDRESS,
        port: server.port,
        onRevoked: () => {
          server.disconnectAll()
          void commands.killAll('killed: the agent was revoked')
        },
        logger,
      })
      onStop('heartbeats', () => heartbeats.stop())
      onStop(
        'commands',
        async () => {
          const hadLive = commands.live.length > 0
          await commands.close()
          if (hadLive) await sleep(LAST_FETCH_MS)
        },
        { timeoutMs: 18_000 },
      )
      heartbeats.start()
      logger.info('listening for instances', { host: address.host, port: server.port, version: SLIPWAY_VERSION })
    },
  })
}
