// The suite in the foreground: start, first deployment, serve until Ctrl-C. What dies is started again.
import { spawn } from 'node:child_process'
import path from 'node:path'
import { isOidcWanted, oidcWelcome } from './oidc.mjs'
import { find, removePid, sleep, start, writePid } from './processes.mjs'
import { root } from './settings.mjs'
import { serversRelease } from './setup.mjs'
import { ready, say, startSuite, stopSuite } from './start.mjs'

const RESTART_MS = 1_000
export const SUPERVISOR = 'supervisor'
export const SUPERVISOR_SCRIPT = 'scripts/suite.mjs run'

const shellQuoted = (text) => `'${text.replaceAll("'", "'\\''")}'`

/** Resolves at the first signal to stop, or when the `make` that started this is gone. A second Ctrl-C ends at once. */
function stopSignal() {
  const state = { stopping: false }
  const parent = process.ppid
  state.came = new Promise((resolve) => {
    const stop = () => {
      if (state.stopping) return
      state.stopping = true
      resolve()
    }
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, stop)
    setInterval(() => process.ppid !== parent && stop(), RESTART_MS).unref()
  })
  return state
}

/** Starts again, 1 s later, every service of the suite that dies; ends when the state says stopping. */
async function supervise(suite, state) {
  const ends = new Map()
  const watch = ({ service, child }) =>
    child.on('exit', (code, signal) => ends.set(service.name, signal ?? `code ${code}`))
  for (const one of suite.started) watch(one)
  while (!state.stopping) {
    const dead = suite.all.filter(({ name, main }) => !find(name, main))
    if (dead.length > 0) await Promise.race([sleep(RESTART_MS), state.came])
    for (const service of dead) {
      if (state.stopping) return
      say(`${service.name} ended (${ends.get(service.name) ?? 'unknown why'}); starting it again`)
      const again = { service, ...start(service) }
      suite.started = [...suite.started.filter((one) => one.service !== service), again]
      watch(again)
    }
    await Promise.race([sleep(200), state.came])
  }
}

/** An access token of the first administrator; null where Slipway does not know that password. */
async function firstToken(base, settings) {
  const { SLIPWAY_ADMIN_EMAIL: email, SLIPWAY_ADMIN_PASSWORD: password } = settings
  const response = await fetch(`${base}/api/v1/auth/login`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ email, password }),
  })
  if (response.status === 401) return null
  if (!response.ok) throw new Error(`the login answered ${response.status}: ${await response.text()}`)
  return (await response.json()).access_token
}

/** Runs a command of the example in the foreground; returns its exit code, null when stopped. */
function exampleCommand(command, args, env, state) {
  const child = spawn(command, args, { cwd: root, stdio: 'inherit', env: { ...process.env, ...env } })
  state.came.then(() => child.kill('SIGTERM'))
  return new Promise((resolve) => {
    child.on('error', () => resolve(1))
    child.on('exit', (code) => resolve(state.stopping ? null : (code ?? 1)))
  })
}

/** Brings the catalog to the example's files and deploys it, showing the log; returns the exit code, null when stopped. */
async function deployExample(base, token, state) {
  const PATH = `${path.join(root, 'node_modules/.bin')}${path.delimiter}${process.env.PATH}`
  const env = { SLIPWAY_URL: base, SLIPWAY_TOKEN: token, PATH }
  const applied = await exampleCommand('slipway', ['apply', '-f', 'examples/storefront'], env, state)
  if (applied !== 0) return applied
  return await exampleCommand('sh', ['examples/storefront/deploy.sh'], env, state)
}

function welcome(base, settings, passwordFits) {
  const shown = passwordFits ? settings.SLIPWAY_ADMIN_PASSWORD : 'PASSWORD'
  const login = `slipway login --email ${shellQuoted(settings.SLIPWAY_ADMIN_EMAIL)} --password-stdin`
  console.log(`
Slipway serves at ${base} (open it in a browser)
  e-mail    ${settings.SLIPWAY_ADMIN_EMAIL}
  password  ${passwordFits ? shown : 'not the one that is set here'}

To go on in another terminal:
  export PATH="$PWD/node_modules/.bin:$PATH" SLIPWAY_URL=${base}
  echo ${shellQuoted(shown)} | ${login} && slipway status

Ctrl-C stops it.
`)
}

/** Runs the suite until it is told to stop; returns the exit code. Nothing it started is left running. */
export async function run() {
  const other = find(SUPERVISOR, SUPERVISOR_SCRIPT)
  if (other && other !== process.pid) throw new Error(`\`make run\` already runs here (process ${other})`)
  writePid(SUPERVISOR, process.pid)
  const state = stopSignal()
  let suite
  let supervision
  let code = 0
  try {
    say('preparing servers and database')
    suite = await startSuite(process.pid, () => state.stopping)
    if (!state.stopping) {
      say(
        `starting ${suite.started.map(({ service }) => service.name).join(', ') || 'nothing: everything runs already'}`,
      )
      await ready(suite, () => state.stopping)
    }
    if (!state.stopping) {
      supervision = supervise(suite, state)
      const base = suite.all[0].url
      say('deploying examples/storefront')
      const token = await firstToken(base, suite.settings).catch((error) => {
        say(`the example was not deployed: ${error.message}`)
      })
      if (token === null) {
        say(
          'the example was not deployed: SLIPWAY_ADMIN_EMAIL and SLIPWAY_ADMIN_PASSWORD made the first administrator, ' +
            'and one of them was changed since, here or in Slipway',
        )
      }
      const result = token && (await deployExample(base, token, state))
      if (result) say(`the example's deployment did not succeed (code ${result}); Slipway serves nevertheless`)
      if (!state.stopping) {
        welcome(base, suite.settings, token !== null)
        if (isOidcWanted()) console.log(oidcWelcome(base))
      }
    }
    await Promise.race([state.came, supervision])
    await supervision
  } catch (error) {
    console.error(`slipway: ${error.message}`)
    code = 1
  }
  state.stopping = true
  say('stopping')
  await stopSuite((suite?.started ?? []).map(({ service }) => service))
  await serversRelease(process.pid)
  removePid(SUPERVISOR)
  return code
}
