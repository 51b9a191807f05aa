// The suite on one machine: suite.mjs run | up | down | status | logs [SERVICE]
// `make` calls it after it has built everything; what each command does is said in the Makefile's help.

import { followLogs } from './suite/logs.mjs'
import { isOidcWanted, oidcWelcome } from './suite/oidc.mjs'
import { find, sleep } from './suite/processes.mjs'
import { readiness } from './suite/readiness.mjs'
import { findSupervisor, HOLDER, run } from './suite/run.mjs'
import { phase, say } from './suite/say.mjs'
import { isHeld, serversRelease, serversStatus } from './suite/setup.mjs'
import { knownServices, ready, runningServices, startSuite, stopSuite } from './suite/start.mjs'

const namesOf = (services) => services.map(({ name }) => name).join(', ')

async function up() {
  if (findSupervisor()) {
    say('everything runs already, in the `make run` of another terminal; it ends there, or with `make down`')
    return 0
  }
  const before = runningServices().length
  let suite
  try {
    suite = await startSuite(HOLDER)
    await ready(suite)
  } catch (error) {
    console.error(`slipway: ${error.message}`)
    await stopSuite((suite?.started ?? []).map(({ service }) => service))
    if (before === 0) await serversRelease(HOLDER)
    return 1
  }
  // Their output goes to files; this process need not wait for them.
  for (const { child } of suite.started) child.unref()
  const started = suite.started.map(({ service }) => service)
  say(started.length > 0 ? `started ${namesOf(started)}` : 'everything runs already')
  say(`serves at ${suite.all[0].url}; e-mail and password of the first administrator: .slipway/settings.env`)
  if (isOidcWanted()) console.log(oidcWelcome(suite.all[0].url))
  return 0
}

async function untilGone() {
  while (findSupervisor()) await sleep(100)
}

async function down() {
  const running = runningServices()
  const supervisor = findSupervisor()
  if (supervisor) {
    process.kill(supervisor, 'SIGTERM')
    await phase('ending the `make run` of another terminal', untilGone())
  }
  await stopSuite(runningServices())
  await phase('stopping the servers', serversRelease(HOLDER))
  say(running.length > 0 ? `stopped ${namesOf(running)}` : 'no service was running')
  return 0
}

/** Who has started what runs, and how it ends. */
function origin() {
  const supervisor = findSupervisor()
  if (supervisor)
    return `\`make run\` in another terminal (process ${supervisor}); Ctrl-C there, or \`make down\`, ends it`
  if (runningServices().length === 0) return 'nothing runs; `make run` and `make up` start it'
  return isHeld(HOLDER)
    ? 'started by `make up`; `make down` ends it'
    : 'left over from a start that was killed; `make down` ends it'
}

async function status() {
  console.log(origin())
  for (const service of knownServices()) {
    const pid = find(service.name, service.main)
    const state = pid === null ? 'stopped' : (await readiness(service)).ready ? 'ready' : 'not ready'
    const columns = [service.name.padEnd(24), String(pid ?? '-').padEnd(9), state.padEnd(11)]
    console.log(`${columns.join('')}${service.url ?? `${service.management} (management)`}`)
  }
  process.stdout.write(await serversStatus())
  return 0
}

async function logs(only) {
  const names = knownServices().map(({ name }) => name)
  if (only && !names.includes(only)) throw new Error(`no service is called ${only}; there are ${names.join(', ')}`)
  await followLogs(only ? [only] : names)
  return 0
}

const commands = { run, up, down, status, logs }
const [command, ...args] = process.argv.slice(2)
// `make status | head`. A `make run` whose terminal is gone has processes to stop first.
process.stdout.on('error', () => (command === 'run' ? process.kill(process.pid, 'SIGTERM') : process.exit(0)))
try {
  if (!Object.hasOwn(commands, command ?? '')) throw new Error(`usage: suite.mjs ${Object.keys(commands).join(' | ')}`)
  process.exitCode = await commands[command](...args)
} catch (error) {
  console.error(`slipway: ${error.message}`)
  process.exitCode = 1
}
process.exit()
