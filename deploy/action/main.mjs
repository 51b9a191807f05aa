// Calls the command line in the folder slipway with the inputs of the action, and writes its outputs.
import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'

const input = (name) => (process.env[`INPUT_${name.toUpperCase()}`] ?? '').trim()
const lines = (name) =>
  input(name)
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
const option = (name, value) => (value === '' ? [] : [`--${name}`, value])

function deployArguments(variablesFile) {
  const selection = [
    ...option('source-version', input('source-version')),
    ...option('environment', input('environment')),
    ...lines('target').flatMap((target) => ['--target', target]),
    ...lines('tag').flatMap((tag) => ['--tag', tag]),
    ...option('mode', input('mode')),
    ...option('timeout', input('timeout')),
  ]
  return [
    'deploy',
    ...selection,
    ...['--strict', '--follow', '--cancel-on-interrupt', '--var-file', variablesFile],
    ...['--idempotency-key', idempotencyKey(selection)],
    // The log goes to stderr, the result to stdout.
    ...['--output', 'json', '--select', 'id,state'],
    '--',
    input('source'),
  ]
}

/** A step that is repeated in one attempt of a run gets the first answer. The jobs of a matrix have the same names, and other inputs. */
function idempotencyKey(selection) {
  const { GITHUB_RUN_ID, GITHUB_RUN_ATTEMPT, GITHUB_JOB, GITHUB_ACTION } = process.env
  const inputs = JSON.stringify([input('source'), ...selection, input('variables')])
  const digest = createHash('sha256').update(inputs).digest('hex').slice(0, 16)
  return [GITHUB_RUN_ID, GITHUB_RUN_ATTEMPT, GITHUB_JOB, GITHUB_ACTION, digest].filter(Boolean).join('-')
}

/** Runs slipway; returns its exit code and what it wrote to stdout. */
function runSlipway(args) {
  const program = path.join(import.meta.dirname, 'slipway/bin/slipway.mjs')
  const env = { ...process.env, SLIPWAY_URL: input('url') }
  if (input('service-account') !== '') env.SLIPWAY_SERVICE_ACCOUNT = input('service-account')
  const child = spawn(process.execPath, [program, ...args], { env, stdio: ['ignore', 'pipe', 'inherit'] })
  // A runner that cancels the job signals this process only.
  for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => child.kill(signal))
  let written = ''
  child.stdout.setEncoding('utf8').on('data', (text) => {
    written += text
  })
  return new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('close', (code) => resolve({ code: code ?? 1, written }))
  })
}

function writeResult({ id, state }) {
  // Nothing is deployed where nothing would change.
  if (id === undefined) return
  const append = (variable, text) => {
    const file = process.env[variable]
    if (file) fs.appendFileSync(file, text)
  }
  append('GITHUB_OUTPUT', `deployment=${id}\nstate=${state}\n`)
  append('GITHUB_STEP_SUMMARY', `Deployment [${id}](${new URL(`/deployments/${id}`, input('url'))}): ${state}\n`)
}

// GitHub shows which inputs are required, but does not check them.
const missing = ['url', 'source'].filter((name) => input(name) === '')
if (missing.length > 0) {
  console.log(`::error::the input ${missing.join(' and ')} of the Slipway action is missing; add it below "with:"`)
  process.exit(2)
}
const folder = fs.mkdtempSync(path.join(process.env.RUNNER_TEMP || os.tmpdir(), 'slipway-'))
try {
  const variablesFile = path.join(folder, 'variables.env')
  fs.writeFileSync(variablesFile, `${lines('variables').join('\n')}\n`, { mode: 0o600 })
  const { code, written } = await runSlipway(deployArguments(variablesFile))
  // Without a result, such as after a refusal, stdout is empty.
  if (written !== '') writeResult(JSON.parse(written))
  process.exitCode = code
} finally {
  fs.rmSync(folder, { recursive: true, force: true })
}
