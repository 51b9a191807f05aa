// The suite on one machine: suite.mjs run | up | down | status | logs [SERVICE]
// `make` calls it after it has built everything; what each command does is said in the Makefile's help.

import { followLogs } from './suite/logs.mjs'
import { isOidcWanted, oidcWelcome } from './suite/oidc.mjs'
import { find, sleep } from './suite/processes.mjs'
import { readiness } from './suite/readiness.mjs'
import { run, SUPERVISOR, SUPERVISOR_SCRIPT } from './suite/run.mjs'
import { serversRelease, serversStatus } from './suite/setup.mjs'
import { knownServices, ready, runningServices, say, startSuite, stopSuite } from './suite/start.mjs'

// The name under which `up` holds the servers until `down`.
const HOLDER = 'suite'

async function up() {
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
  const names = suite.started.map(({ service }) => service.name)
  say(names.length > 0 ? `started ${names.join(', ')}` : 'everything runs already')
  say(`serves at ${suite.all[0].url}; e-mail and password of the first administrator: .slipway/settings.env`)
  if (isOidcWanted()) console.log(oidcWelcome(suite.all[0].url))
  return 0
}

async function down() {
  const supervisor = find(SUPERVISOR, SUPERVISOR_SCRIPT)
  if (supervisor) {
    say('ending the `make run` in another terminal')
    process.kill(supervisor, 'SIGTERM')
    while (find(SUPERVISOR, SUPERVISOR_SCRIPT)) await sleep(100)
  }
  const running = runningServices()
  await stopSuite(running)
  await serversRelease(HOLDER)
  say(running.length > 0 ? `stopped ${running.map(({ name }) => name).join(', ')}` : 'no service was running')
  return 0
}

async function status() {
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
