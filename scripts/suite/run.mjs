// The suite in the foreground: start, first deployment, serve until Ctrl-C. What dies is started again.
import { spawn } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import { isOidcWanted, oidcWelcome } from './oidc.mjs'
import { find, logFile, removePid, sleep, start, writePid } from './processes.mjs'
import { phase, say } from './say.mjs'
import { root, stateDir } from './settings.mjs'
import { isHeld, serversRelease } from './setup.mjs'
import { ready, runningServices, startSuite, stopSuite } from './start.mjs'

const RESTART_MS = 1_000
const NAME = 'supervisor'
const SCRIPT = `${path.join(root, 'scripts/suite.mjs')} run`
/** The name under which `up` holds the servers until `down`. */
export const HOLDER = 'suite'

/** The process of `make run`, or null. */
export const findSupervisor = () => find(NAME, SCRIPT)

const EXAMPLE = 'storefront'
/** Exists when the example was deployed by an earlier start. */
const deployedFile = path.join(stateDir, 'example-deployed')

const shellQuoted = (text) => `'${text.replaceAll("'", "'\\''")}'`

/** Resolves at the first signal to stop, or when the `make` that started this is gone. */
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

/** Runs a command of the example; returns its exit code, null when stopped. */
function exampleCommand(command, args, { env, output }, state) {
  const child = spawn(command, args, { cwd: root, stdio: ['ignore', output, output], env: { ...process.env, ...env } })
  state.came.then(() => child.kill('SIGTERM'))
  return new Promise((resolve) => {
    child.on('error', () => resolve(1))
    child.on('exit', (code) => resolve(state.stopping ? null : (code ?? 1)))
  })
}

/** Brings the catalog to the example's files and deploys it; returns the exit code, null when stopped. */
async function applyAndDeploy(base, token, output, state) {
  const PATH = `${path.join(root, 'node_modules/.bin')}${path.delimiter}${process.env.PATH}`
  const context = { env: { SLIPWAY_URL: base, SLIPWAY_TOKEN: token, PATH }, output }
  const applied = await exampleCommand('slipway', ['apply', '-f', 'examples/storefront'], context, state)
  if (applied !== 0) return applied
  return await exampleCommand('sh', ['examples/storefront/deploy.sh'], context, state)
}

/** The first time, shows the log of the example. After that the suite serves already, and the log goes to a file. */
async function deployExample(base, token, isFirst, state) {
  const output = isFirst ? 'inherit' : fs.openSync(logFile(EXAMPLE), 'a')
  const code = await phase('examples/storefront', applyAndDeploy(base, token, output, state))
  if (code === 0) fs.writeFileSync(deployedFile, '')
  if (!code) return
  const where = isFirst ? '' : `; its log: ${path.relative(root, logFile(EXAMPLE))}`
  say(`the example's deployment did not succeed (code ${code}); Slipway serves nevertheless${where}`)
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
  const other = findSupervisor()
  if (other && other !== process.pid) throw new Error(`\`make run\` already runs here (process ${other})`)
  writePid(NAME, process.pid)
  const state = stopSignal()
  const before = runningServices()
  const isUp = isHeld(HOLDER)
  let suite
  let supervision
  let code = 0
  try {
    suite = await startSuite(process.pid, () => state.stopping)
    if (!state.stopping) {
      const names = suite.started.map(({ service }) => service.name)
      say(names.length > 0 ? `starting ${names.join(', ')}` : 'everything runs already')
      await ready(suite, () => state.stopping)
    }
    if (!state.stopping) {
      supervision = supervise(suite, state)
      const base = suite.all[0].url
      const token = await firstToken(base, suite.settings).catch((error) => {
        say(`the example is not deployed: ${error.message}`)
      })
      if (token === null) {
        say(
          'the example is not deployed: SLIPWAY_ADMIN_EMAIL and SLIPWAY_ADMIN_PASSWORD made the first administrator, ' +
            'and one of them was changed since, here or in Slipway',
        )
      }
      const isFirst = !fs.existsSync(deployedFile)
      if (token && isFirst) await deployExample(base, token, isFirst, state)
      if (!state.stopping) {
        welcome(base, suite.settings, token !== null)
        if (isOidcWanted()) console.log(oidcWelcome(base))
      }
      if (token && !isFirst) await deployExample(base, token, isFirst, state)
    }
    await Promise.race([state.came, supervision])
    await supervision
  } catch (error) {
    console.error(`slipway: ${error.message}`)
    code = 1
  }
  state.stopping = true
  say('stopping')
  // Services that a killed `make run` has left belong to this one.
  const leftOver = isUp ? [] : before
  await stopSuite([...leftOver, ...(suite?.started ?? []).map(({ service }) => service)])
  await serversRelease(process.pid)
  removePid(NAME)
  if (isUp) say('the services of `make up` go on; `make down` stops them')
  return code
}
