import { mkdir } from 'node:fs/promises'
import path from 'node:path'
import { Lifeline } from '@slipway/commands'
import type { RunRef } from '@slipway/contracts'
import { BridgeConnections, ConfigurationError, type ServiceContext, SLIPWAY_VERSION } from '@slipway/runtime'
import { BridgeClient, type PostedBatch, UnauthorizedError } from './bridge/bridge-client.ts'
import { Identity } from './bridge/identity.ts'
import { Joining, TOKEN_ADVICE } from './bridge/join.ts'
import { type JoinTokenSource, joinTokenSource } from './bridge/join-token.ts'
import { Rotation } from './bridge/rotation.ts'
import { SyncLoop } from './bridge/sync-loop.ts'
import type { Config } from './config.ts'
import { ContentCache } from './content/cache.ts'
import { JournalDisk } from './journal/journal-disk.ts'
import { JournalSpace } from './journal/journal-space.ts'
import { Runs } from './runs/runs.ts'
import { asConfiguration, openLocalUser, requireUnreadable } from './transports/local-user.ts'
import type { KeyExchange } from './transports/ssh/algorithms.ts'
import { probe } from './transports/ssh/probe.ts'
import { Transports } from './transports/transports.ts'

interface InstanceTimes {
  /** How long commands may take to end when the instance stops, before they are killed. */
  endCommandsMs: number
  /** How often an instance without a valid token reads the token source again. */
  readTokenMs: number
}

/** Starts an instance: it joins the bridge, resumes the runs of its journals and receives new ones. */
export async function startInstance(
  { config, logger, health, onStop, fatal }: ServiceContext<Config>,
  { endCommandsMs, readTokenMs }: InstanceTimes,
) {
  const connections = new BridgeConnections({
    caFile: config.SLIPWAY_BRIDGE_CA_FILE,
    urlSetting: 'SLIPWAY_BRIDGE_URL',
    logger,
  })
  const folder = path.resolve(config.SLIPWAY_JOURNAL_DIR)
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const identity = await Identity.open(folder)
  const tokens = tokensFor(identity, config)
  const bridge = new BridgeClient(config.SLIPWAY_BRIDGE_URL, connections)
  const lifeline = new Lifeline()
  const asUser = await openLocalUser(config, folder, logger)
  const transports = await asConfiguration('SLIPWAY_LOCAL_DIR', () =>
    Transports.open(path.join(folder, 'commands'), lifeline, {
      handshakes: config.SLIPWAY_SSH_HANDSHAKES,
      limits: {
        memoryMib: config.SLIPWAY_LOCAL_MEMORY_MIB,
        openFiles: config.SLIPWAY_LOCAL_OPEN_FILES,
        fileMib: config.SLIPWAY_LOCAL_FILE_MIB,
      },
      keyExchanges: config.SLIPWAY_SSH_KEY_EXCHANGES.split(',') as KeyExchange[],
      asUser,
    }),
  )
  onStop('transports', () => transports.close())
  const content = await ContentCache.open(path.join(folder, 'content'), {
    maxBytes: config.SLIPWAY_CONTENT_CACHE_MIB * 1024 * 1024,
    source: (id) => withCredential((credential) => bridge.content(id, credential)),
    logger,
  })

  const journals = path.join(folder, 'journals')
  const maxBytes = config.SLIPWAY_JOURNAL_MIB * 1024 * 1024
  const disk = await JournalDisk.open(journals, {
    maxBytes,
    freeSpace: () => content.deleteUnused(),
    logger,
  })
  onStop('journal disk', () => disk.close())
  const runs = await Runs.open(journals, {
    keys: identity.journalKeys,
    transports,
    content,
    parallelLimit: config.SLIPWAY_PARALLEL_LIMIT,
    outputBytes: config.SLIPWAY_STEP_OUTPUT_BYTES,
    space: new JournalSpace(maxBytes),
    disk,
    post: (ref, batch) => postEvents(ref, batch),
    postPartialLines: ({ deployment_id, epoch }, lines) =>
      withCredential((credential) => bridge.partialLines(deployment_id, credential, { epoch, lines })),
    fetchSpec: (ref) => withCredential((credential) => bridge.spec(ref, credential)),
    logger,
    fatal,
  })
  disk.onChange = () => {
    // The next sync says whether this instance accepts runs.
    runs.reports.onUpdate()
    if (!disk.isFull) void identity.saveIfUnsaved()
  }
  if (asUser) {
    const own = ['identity.json', 'journals', 'content', 'commands'].map((name) => path.join(folder, name))
    await requireUnreadable(asUser, own)
  }

  const self = {
    name: config.SLIPWAY_INSTANCE_NAME,
    version: SLIPWAY_VERSION,
    capacity: config.SLIPWAY_INSTANCE_CAPACITY,
    labels: labelsOf(config.SLIPWAY_INSTANCE_LABELS),
  }
  const syncLoop = new SyncLoop({
    bridge,
    identity,
    self,
    joining: new Joining({ bridge, identity, self, tokens, logger, fatal, readTokenMs }),
    rotation: new Rotation({ bridge, identity, logger }),
    runs,
    probe: (targets) => probe(transports.ssh, targets),
    onRenewed: (until) => lifeline.renew(until),
    logger,
  })
  async function postEvents({ deployment_id, epoch }: RunRef, batch: PostedBatch): Promise<number> {
    return (await withCredential((credential) => bridge.events(deployment_id, credential, epoch, batch))).next_event
  }
  async function withCredential<T>(call: (credential: string) => Promise<T>): Promise<T> {
    const { credential } = syncLoop
    try {
      return await call(credential)
    } catch (error) {
      if (error instanceof UnauthorizedError) await syncLoop.handleRefusal(credential, error)
      throw error
    }
  }

  // Sync stops last: it keeps the leases alive while commands end.
  onStop('sync', () => syncLoop.stop())
  onStop('runs', () => runs.shutDown(endCommandsMs), { timeoutMs: 19_000 })
  health.check('journal-disk', () => !disk.isFull)
  health.check('executor-bridge', () => syncLoop.isUp)
  syncLoop.start()
  return { runs, syncLoop, capacity: self.capacity }
}

function labelsOf(text: string): { [label: string]: string } {
  const pairs = text.split(',').filter((pair) => pair !== '')
  return Object.fromEntries(pairs.map((pair): [string, string] => [pair.split('=')[0] ?? '', pair.split('=')[1] ?? '']))
}

/** @throws ConfigurationError if the instance cannot join, or the folder belongs to another instance */
function tokensFor({ membership }: Identity, config: Config): JoinTokenSource | null {
  if (membership !== null && membership.name !== config.SLIPWAY_INSTANCE_NAME) {
    const problem = `differs from ${membership.name}, the name of the instance that owns SLIPWAY_JOURNAL_DIR: give each instance its own folder`
    throw new ConfigurationError([{ variable: 'SLIPWAY_INSTANCE_NAME', problem }])
  }
  const file = config.SLIPWAY_JOIN_TOKEN_FILE
  if (file !== undefined) return joinTokenSource(file)
  if (membership !== null) return null
  const problem = `is missing, and this instance has not joined yet: ${TOKEN_ADVICE}`
  throw new ConfigurationError([{ variable: 'SLIPWAY_JOIN_TOKEN_FILE', problem, example: '/run/secrets/join-token' }])
}
