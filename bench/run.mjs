// node bench/run.mjs [console] [create] [drain] [fleet] [freezes] [history] [list] [locks] [parked] [plans] [start] [streams] — measures the whole product beside its floors and prints ratios. ROUNDS=5 SECONDS=5
import { execFileSync, spawn } from 'node:child_process'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'

const root = path.resolve(import.meta.dirname, '..')
if (!process.env.DATABASE_URL) {
  const exports = execFileSync('bash', ['scripts/infra.sh', 'env'], { cwd: root, encoding: 'utf8' })
  for (const [, name, url] of exports.matchAll(/^export (\w+)='(.*)'$/gm)) process.env[name] ??= url
}
const { addJoinToken, connectTo, startSuite, loginToSuite, createAction, createLocalTarget, createSequence } =
  await import('../tests/support/dist/index.js')
const { joinIdleInstance } = await import('./instance.mjs')
const { measureConsole } = await import('./console.mjs')
const { measureCreate } = await import('./create.mjs')
const { measureDrain } = await import('./drain.mjs')
const { measureFleet } = await import('./fleet.mjs')
const { measureFreezes } = await import('./freezes.mjs')
const { measureHistory } = await import('./history.mjs')
const { measureList } = await import('./list.mjs')
const { measureLocks } = await import('./locks.mjs')
const { measureParked } = await import('./parked.mjs')
const { measurePlans } = await import('./plans.mjs')
const { measureStart } = await import('./start.mjs')
const { measureStreams } = await import('./streams.mjs')
const { tableOf } = await import('./report.mjs')

const wanted = process.argv.slice(2)
const wants = (name) => wanted.length === 0 || wanted.includes(name)
const rounds = Number(process.env.ROUNDS ?? 5)
const seconds = Number(process.env.SECONDS ?? 5)
const commit = execFileSync('git', ['describe', '--always', '--dirty'], { cwd: root, encoding: 'utf8' }).trim()

const bridgePort = 20_000 + Math.floor(Math.random() * 10_000)
const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'slipway-bench-'))
const suite = await startSuite({
  capacity: 1,
  env: {
    SLIPWAY_BRIDGE_PORT: String(bridgePort),
    SLIPWAY_BRIDGE_URL: `http://127.0.0.1:${bridgePort}`,
    SLIPWAY_LOG_LEVEL: 'warn',
    SLIPWAY_PROBE_SECONDS: '0',
    NODE_OPTIONS: `--import ${path.join(root, 'bench/lag.mjs')}`,
    BENCH_FOLDER: folder,
  },
})
const database = await connectTo(suite.databaseUrl)
const peer = spawn(process.execPath, [path.join(root, 'bench/peers/server.mjs')], {
  env: { ...process.env, DATABASE_URL: suite.databaseUrl },
  stdio: ['ignore', 'pipe', 'inherit'],
})
let instance
try {
  const peerUrl = await new Promise((resolve) =>
    peer.stdout.once('data', (port) => resolve(`http://127.0.0.1:${String(port).trim()}`)),
  )
  const api = await loginToSuite(suite)
  const bench = { suite, database, api, peerUrl, rounds, seconds, root }
  const report = []
  const action_id = await createAction(api)
  const target_ids = [await createLocalTarget(api)]
  if (wants('fleet')) report.push(...(await measureFleet({ ...bench, createAction, createSequence })))
  if (
    ['console', 'create', 'drain', 'freezes', 'history', 'locks', 'parked', 'plans', 'start', 'streams'].some(wants)
  ) {
    await suite.kill('orchestration-instance', 'SIGTERM')
    await database.query('UPDATE instances SET draining = true')
    instance = await joinIdleInstance(`http://127.0.0.1:${bridgePort}`, await addJoinToken(suite.databaseUrl), 10_000)
  }
  if (wants('create')) {
    report.push(...(await measureCreate({ ...bench, instance, body: JSON.stringify({ action_id, target_ids }) })))
  }
  if (wants('freezes')) {
    report.push(...(await measureFreezes({ ...bench, instance, body: JSON.stringify({ action_id, target_ids }) })))
  }
  if (wants('parked')) report.push(...(await measureParked({ ...bench, instance, body: { action_id, target_ids } })))
  if (wants('start')) report.push(...(await measureStart({ ...bench, instance, body: { action_id, target_ids } })))
  if (wants('plans') || wants('console')) {
    const sequence = await createSequence(api, Array(20).fill(action_id))
    const small = JSON.stringify({ sequence_id: sequence, target_ids })
    if (wants('plans')) report.push(...(await measurePlans({ ...bench, instance, sequence, small, folder })))
    if (wants('console')) report.push(...(await measureConsole({ ...bench, instance, sequence, small })))
  }
  if (wants('locks')) {
    const sequence = await createSequence(api, Array(20).fill(action_id))
    report.push(...(await measureLocks({ ...bench, instance, action_id, sequence })))
  }
  if (wants('drain')) report.push(...(await measureDrain({ ...bench, instance, body: { action_id, target_ids } })))
  if (wants('streams')) {
    const small = JSON.stringify({ action_id, target_ids })
    report.push(...(await measureStreams({ ...bench, instance, small, folder })))
  }
  if (wants('history')) {
    report.push(...(await measureHistory({ ...bench, instance, body: JSON.stringify({ action_id, target_ids }) })))
  }
  if (wants('list')) report.push(...(await measureList(bench)))
  const machine = { cpus: os.cpus().length, model: os.cpus()[0]?.model, load: os.loadavg(), node: process.version }
  const file = path.join(root, '.slipway/bench', `${new Date().toISOString().slice(0, 16).replace(':', '')}.json`)
  fs.mkdirSync(path.dirname(file), { recursive: true })
  fs.writeFileSync(file, `${JSON.stringify({ commit, machine, rounds, seconds, report }, null, 2)}\n`)
  console.log(tableOf(report, commit))
  const load = machine.load.map((value) => value.toFixed(1)).join(', ')
  console.log(
    `${rounds} rounds of ${seconds} s, ${machine.cpus} × ${machine.model}, Node ${machine.node}, load ${load}: ${file}`,
  )
} finally {
  peer.kill('SIGTERM')
  await instance?.stop()
  await database.end()
  await suite.stop().catch((error) => console.error(error.message))
  fs.rmSync(folder, { recursive: true, force: true })
}
