// From nothing to a ready suite: what `up` and `run` have in common.
import { spawnSync } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import { localUser } from './local-user.mjs'
import { writeOidcFiles } from './oidc.mjs'
import { find, start, stop } from './processes.mjs'
import { untilReady } from './readiness.mjs'
import { phase, say } from './say.mjs'
import { services } from './services.mjs'
import { ports, root, settings, stateDir } from './settings.mjs'
import { demandFreePorts, demandUrls, makeJoinToken, migrate, serversUp, serverUrls } from './setup.mjs'

const portsFile = path.join(stateDir, 'run', 'ports.json')
const NO_SERVERS = { DATABASE_URL: '', RABBITMQ_URL: '', REDIS_URL: '' }

/** The suite as it was last started, to find, show and stop it; its environment is not complete. */
export function knownServices() {
  const known = fs.existsSync(portsFile) ? JSON.parse(fs.readFileSync(portsFile, 'utf8')) : ports()
  return services({ ports: known, settings: {}, servers: NO_SERVERS })
}

export const runningServices = () => knownServices().filter(({ name, main }) => find(name, main))

/** Throws when services that run already listen elsewhere than this call asks for: half a suite cannot move. */
function demandSamePorts(wanted) {
  const running = runningServices()
  if (running.length === 0) return
  const known = JSON.parse(fs.readFileSync(portsFile, 'utf8'))
  if (JSON.stringify(known) === JSON.stringify(wanted)) return
  const how = known.oidc === undefined ? 'without' : 'with'
  throw new Error(
    `the suite already runs with its gateway on port ${known.gateway}, ${how} a login provider: \`make down\` first`,
  )
}

/**
 * Prepares servers and schema on behalf of `holder` and starts what is not running. Returns { all, started, settings,
 * serversReady } as soon as the processes exist; `ready` waits until they serve. They wait for RabbitMQ and for the schema by
 * themselves, which are prepared while they start. Starts nothing once it is cancelled.
 */
export async function startSuite(holder, cancelled = () => false) {
  const wanted = ports()
  demandSamePorts(wanted)
  demandUrls()
  const kept = settings()
  const coming = serversUp(holder)
  const servers = await phase('servers', coming.postgres.then(serverUrls))

  const local = localUser()
  if (local.problem) say(local.problem)
  const all = services({ ports: wanted, settings: kept, servers, local: local.env })
  if (cancelled()) return { all, started: [], settings: kept, serversReady: coming.all }
  const missing = all.filter(({ name, main }) => !find(name, main))
  for (const { name, main } of missing) {
    if (!fs.existsSync(main)) throw new Error(`${name} is not built: ${path.relative(process.cwd(), main)} is missing`)
  }
  await demandFreePorts(missing)
  fs.mkdirSync(path.dirname(portsFile), { recursive: true })
  fs.writeFileSync(portsFile, JSON.stringify(wanted))
  if (wanted.oidc !== undefined) writeOidcFiles(wanted.oidc, all[0].url)
  const started = missing.map((service) => ({ service, ...start(service) }))
  const joins = missing.some(({ name }) => name === 'orchestration-instance')
  return { all, started, settings: kept, serversReady: Promise.all([coming.all, prepareDatabase(servers, joins)]) }
}

/** Migrates, and makes the token with which the instance joins. The services wait for both. */
async function prepareDatabase(servers, joins) {
  await phase('database', migrate(servers))
  if (joins) await makeJoinToken(servers)
}

/** Waits until the whole suite serves; throws an Error with the reason when it does not. */
export async function ready({ all, started, serversReady }, cancelled) {
  const logStarts = new Map(started.map(({ service, logStart }) => [service.name, logStart]))
  await phase('services', Promise.all([serversReady, untilReady(all, logStarts, cancelled)]))
}

/** Stops the given services and says which of them had to be killed. */
export async function stopSuite(list) {
  const killed = await phase('stopping the services', stop(list))
  for (const name of killed) say(`${name} did not stop within 20 s and was killed; its log: make logs SERVICE=${name}`)
  if (runningServices().length > 0) return
  fs.rmSync(portsFile, { force: true })
  stopExamples()
}

/** Stops what the examples have started: their processes outlive the deployments, and so they would outlive the suite. */
function stopExamples() {
  for (const command of [['examples/storefront/stop.sh'], ['examples/tutorial/servers.sh', 'stop']]) {
    const { stdout = '' } = spawnSync('sh', command, { cwd: root, encoding: 'utf8' })
    for (const line of stdout.split('\n').filter(Boolean)) say(line)
  }
}
