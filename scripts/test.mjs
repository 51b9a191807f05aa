// node scripts/test.mjs [PATH ...]: runs `make test`, or the test files whose path contains one of the arguments.
// node scripts/test.mjs --all: runs `make test-all`.
// The last line is `N passed, N failed`. A file that cannot run counts as one failure, and so does a run without a result.
import { spawn, spawnSync } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'

const root = path.dirname(import.meta.dirname)
const holder = `test-${process.pid}`
const result = path.join(root, '.slipway', `${holder}.json`)
const SLOW = Number(process.env.SLOW ?? 1)
/** After its result, jest only has to stop its workers. */
const LINGER_MS = 20_000 * SLOW
const LISTED = 10

const RELEASE_FILE = /^tests\/(faults|kubernetes|release|running)/
/** The bound of a test that kills processes or does a thousand rounds. */
const LONG_BOUND = `--testTimeout=${600_000 * SLOW}`

/** The random tests that have many more rounds in `make test-all`, and those with more users: all that call roundsOf() or isLongRun. */
const RANDOM_TESTS = [
  'properties.test',
  'model.test',
  'dispatcher/test/pools.test',
  'dispatcher/test/previews.test',
  'dispatcher/test/shown.test',
  'engine/test/explain.test',
  'execution/test/local-user.test',
]

/** Files that `make test` leaves to `make test-all`: each takes a worker for 20 s and more, and what they find breaks seldom. */
const LEFT_TO_ALL = [
  'tests/golden/console-(deploy|frame|identity|records|releases|rules)',
  'tests/campaign/test/trend',
  'domain/test/(analysis/real|time-zones)',
  'gateway/test/busy',
  'orchestration-instance/test/(disk-full|faults|host-shell)',
  'runtime/test/redis-half-open',
  'commands/test/local-user',
]

const children = new Set()
// Ctrl-C reaches jest as well. This process goes on to release the servers.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
  process.on(signal, () => {
    for (const child of children) child.kill()
  })
}

function run(command, ...args) {
  const { status } = spawnSync(command, args, { cwd: root, stdio: ['ignore', 2, 2] })
  return status === 0
}

const infra = (...args) => run('bash', 'scripts/infra.sh', ...args)

function startNode(args, { env = {}, stdio }) {
  // Packages are taken from their sources, so a test needs no build.
  const node = ['--conditions=@slipway/source', '--import=./scripts/jest/register.mjs', ...args]
  const child = spawn(process.execPath, node, { cwd: root, env: { ...process.env, ...env }, stdio })
  children.add(child)
  child.on('exit', () => children.delete(child))
  return child
}

const total = { passed: 0, failed: 0 }
const files = []

/** Runs jest, adds to the total, and keeps the time of each file. */
async function runJest(options, env = {}) {
  // With --json, jest prints the whole result on stdout too. What people read goes to stderr.
  const args = ['node_modules/jest/bin/jest.js', '--ci', '--json', `--outputFile=${result}`, '--passWithNoTests']
  const jest = startNode([...args, ...options], { env, stdio: ['ignore', 'ignore', 'inherit'] })
  let lingers = false
  const code = await new Promise((resolve) => {
    const watch = setInterval(() => {
      if (!fs.existsSync(result)) return
      clearInterval(watch)
      linger = setTimeout(() => {
        console.error(
          'The tests have ended, but something that they opened keeps jest running: this counts as a failure.',
        )
        lingers = true
        jest.kill('SIGKILL')
      }, LINGER_MS)
    }, 500)
    let linger
    jest.on('exit', (code) => {
      clearInterval(watch)
      clearTimeout(linger)
      resolve(code ?? 1)
    })
  })
  const { passed, failed } = readResult()
  total.passed += passed
  total.failed += failed + Number(lingers || (code !== 0 && failed === 0))
}

function readResult() {
  if (!fs.existsSync(result)) return { passed: 0, failed: 1 }
  const { testResults, numPassedTests, numFailedTests, numRuntimeErrorTestSuites } = JSON.parse(
    fs.readFileSync(result, 'utf8'),
  )
  fs.rmSync(result)
  for (const { name, startTime, endTime } of testResults) {
    files.push({ name: path.relative(root, name), seconds: (endTime - startTime) / 1_000 })
  }
  return { passed: numPassedTests, failed: numFailedTests + numRuntimeErrorTestSuites }
}

/** Runs the short form of the campaign beside the tests: it has its own servers, and mostly waits. */
async function runCampaign() {
  const child = startNode(['tests/campaign/main.ts', 'SHORT=1'], { stdio: ['ignore', 'pipe', 'pipe'] })
  const output = []
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => output.push(chunk))
  const code = await new Promise((resolve) => child.on('close', resolve))
  process.stderr.write(`${code === 0 ? 'PASS' : 'FAIL'} tests/campaign/main.ts SHORT=1\n${Buffer.concat(output)}`)
  total[code === 0 ? 'passed' : 'failed'] += 1
}

function printSlowest() {
  const slowest = files.toSorted((a, b) => b.seconds - a.seconds).slice(0, LISTED)
  console.error('The slowest files:')
  for (const { name, seconds } of slowest) console.error(`  ${seconds.toFixed(1).padStart(6)} s  ${name}`)
}

const isAll = process.argv.includes('--all')
const paths = process.argv.slice(2).filter((arg) => arg !== '--all')

/** Whether files may start a service or the console from its build, and not from its sources. */
const needsBuild =
  paths.length === 0 || paths.some((path) => !/^(packages|services|tests\/campaign|tests\/rules)\b/.test(path))

const isReady =
  (!needsBuild || run('make', 'build')) &&
  infra('packages', isAll || paths.length > 0 ? 'test-all' : 'test') &&
  infra('up', holder)
if (isReady) {
  if (paths.length > 0) await runJest(paths.some((path) => RELEASE_FILE.test(path)) ? [...paths, LONG_BOUND] : paths)
  else {
    const left = isAll ? [] : ['--testPathIgnorePatterns', ...LEFT_TO_ALL]
    await runJest(['--selectProjects', 'rules', 'golden', ...left])
  }
  if (isAll) {
    const campaign = runCampaign()
    await runJest(['--selectProjects', 'release', LONG_BOUND])
    await runJest([...RANDOM_TESTS, '--selectProjects', 'rules', LONG_BOUND], { SLIPWAY_TEST_LONG: '1' })
    await campaign
  }
  printSlowest()
} else total.failed = 1
infra('release', holder)
console.log(`${total.passed} passed, ${total.failed} failed`)
process.exit(total.failed === 0 && total.passed > 0 ? 0 : 1)
