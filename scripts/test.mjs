// Runs every test (or those whose path matches the arguments) against real servers, and ends with a line
// `N passed, N failed`. A file that cannot run counts as one failure; so does a run that ends without a result.
// What restarts a server that others use (tests/restarts) runs after everything else, one file at a time.
// The short form of the campaign runs beside the tests: it has servers of its own, and mostly waits.
import { spawn, spawnSync } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'

const root = path.dirname(import.meta.dirname)
const result = path.join(root, '.slipway', `test-result-${process.pid}.json`)
/** Longer than a busy machine needs to end the workers of jest. */
const LINGER_MS = 60_000
const infra = (...args) => spawnSync('bash', ['scripts/infra.sh', ...args], { cwd: root, stdio: ['ignore', 2, 2] })

// Ctrl-C reaches jest as well; this process goes on to release the servers.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, stop)
let jest
let campaign
let lingered = 0

function stop() {
  for (const child of [jest, campaign]) child?.kill('SIGTERM')
}

function count() {
  try {
    const { numPassedTests, numFailedTests, numRuntimeErrorTestSuites } = JSON.parse(fs.readFileSync(result, 'utf8'))
    return { passed: numPassedTests, failed: numFailedTests + numRuntimeErrorTestSuites + lingered }
  } catch {
    return { passed: 0, failed: 1 }
  } finally {
    fs.rmSync(result, { force: true })
    lingered = 0
  }
}

function runJest(options, env = {}) {
  // Packages are taken from their sources: no build before a test.
  const args = ['--conditions=@slipway/source', '--import=./scripts/jest/register.mjs']
  args.push('node_modules/jest/bin/jest.js')
  args.push('--ci', '--json', `--outputFile=${result}`, '--passWithNoTests', ...options)
  // With --json jest prints the whole result on stdout too; what people read goes to stderr.
  jest = spawn(process.execPath, args, {
    cwd: root,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  return new Promise((resolve) => {
    const watch = setInterval(() => {
      if (!fs.existsSync(result)) return
      clearInterval(watch)
      linger = setTimeout(giveUp, LINGER_MS)
    }, 500)
    let linger
    const giveUp = () => {
      console.error('The tests are done, but something they opened keeps jest alive: that counts as a failure.')
      lingered = 1
      jest.kill('SIGKILL')
    }
    jest.on('exit', (code) => {
      clearInterval(watch)
      clearTimeout(linger)
      resolve(code ?? 1)
    })
  })
}

/** Resolves with whether no invariant was violated. */
function playCampaign() {
  const args = ['--conditions=@slipway/source', '--import=./scripts/jest/register.mjs', 'campaign/main.ts', 'SHORT=1']
  campaign = spawn(process.execPath, args, { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] })
  const output = []
  for (const stream of [campaign.stdout, campaign.stderr]) stream.on('data', (chunk) => output.push(chunk))
  return new Promise((resolve) => {
    campaign.on('close', (code) => {
      process.stderr.write(`${code === 0 ? 'PASS' : 'FAIL'} campaign/main.ts SHORT=1\n${Buffer.concat(output)}`)
      resolve(code === 0)
    })
  })
}

const paths = process.argv.slice(2)
const total = { passed: 0, failed: 0 }

async function phase(options, env) {
  const code = await runJest(options, env)
  const { passed, failed } = count()
  total.passed += passed
  total.failed += code !== 0 && failed === 0 ? 1 : failed
}

if (infra('packages', 'test').status === 0 && infra('up', String(process.pid)).status === 0) {
  const played = paths.length === 0 ? playCampaign() : null
  await phase(paths)
  if (played !== null) total[(await played) ? 'passed' : 'failed'] += 1
  if (paths.length === 0 || paths.some((path) => path.includes('restarts'))) {
    await phase(['--runInBand', 'tests/restarts'], { SLIPWAY_TEST_RESTARTS: '1' })
  }
} else total.failed = 1
infra('release', String(process.pid))
const { passed, failed } = total
console.log(`${passed} passed, ${failed} failed`)
process.exit(failed === 0 && passed > 0 ? 0 : 1)
