// What has to be there before a service starts: the three servers, the newest schema, free ports.
import { spawn } from 'node:child_process'
import fs from 'node:fs'
import net from 'node:net'
import path from 'node:path'
import { joinTokenFile, root, stateDir } from './settings.mjs'

/**
 * Runs a command to its end; returns its output, or throws an Error with the command's own words. It runs in a session
 * of its own: Ctrl-C must not cut a start of servers or a migration in half.
 */
function complete(command, args, { env = process.env, quiet = false, mayFail = false, onOutput = () => {} } = {}) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { cwd: root, env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] })
    let output = ''
    let words = ''
    child.stdout.on('data', (data) => {
      output += data
      onOutput(output)
    })
    child.stderr.on('data', (data) => {
      words += data
      if (!quiet) process.stderr.write(data)
    })
    child.on('error', reject)
    child.on('close', (code) => {
      if (code === 0 || mayFail) resolve(output)
      else reject(new Error(quiet ? (words || output).trim() : `${path.basename(args[0])} failed`))
    })
  })
}

const infra = (...args) => complete('bash', ['scripts/infra.sh', ...args])

/**
 * Starts the servers on behalf of `holder`. Returns { postgres, all }: promises that it, and that all of them, are
 * ready. RabbitMQ takes by far the longest.
 */
export function serversUp(holder) {
  let all
  const postgres = new Promise((resolve, reject) => {
    const onOutput = (output) => /^postgres ready$/m.test(output) && resolve()
    all = complete('bash', ['scripts/infra.sh', 'up', String(holder)], { onOutput })
    all.then(resolve, reject)
  })
  return { postgres, all }
}

export const serversRelease = (holder) => infra('release', String(holder))
/** Whether the servers are up on behalf of `holder`. */
export const isHeld = (holder) => fs.existsSync(path.join(stateDir, 'infra/holders', holder))
/** One line for each server, whether they are up or not. */
export const serversStatus = () => complete('bash', ['scripts/infra.sh', 'status'], { quiet: true, mayFail: true })

const PROTOCOLS = {
  DATABASE_URL: ['postgresql:', 'postgres:'],
  RABBITMQ_URL: ['amqp:', 'amqps:'],
  REDIS_URL: ['redis:', 'rediss:'],
}

/** Throws an Error that names the variable, never its value, when the environment's address of a server is none. */
export function demandUrls() {
  for (const [variable, protocols] of Object.entries(PROTOCOLS)) {
    const text = process.env[variable]
    if (!text || (URL.canParse(text) && protocols.includes(new URL(text).protocol))) continue
    throw new Error(`${variable} is not an address like ${protocols[0]}//user:password@host:port`)
  }
}

/**
 * The addresses of the servers: { DATABASE_URL, RABBITMQ_URL, REDIS_URL }, and for services with a user of their own
 * DATABASE_URL_GATEWAY, RABBITMQ_URL_GATEWAY, REDIS_URL_GATEWAY and so on.
 */
export async function serverUrls() {
  const lines = (await infra('env')).matchAll(/^export (\w+)='(.*)'$/gm)
  const own = Object.entries(process.env).filter(([name]) => /^(DATABASE|RABBITMQ|REDIS)_URL_/.test(name))
  return Object.fromEntries([...own, ...[...lines].map(([, name, url]) => [name, url])])
}

/** Brings the database to the newest schema; several at once are safe. */
export async function migrate(servers) {
  const script = 'packages/database/scripts/migrate.mjs'
  try {
    await complete(process.execPath, [script, 'deploy'], { env: { ...process.env, ...servers }, quiet: true })
  } catch (error) {
    const host = new URL(servers.DATABASE_URL).host
    throw new Error(
      `the database cannot be prepared (DATABASE_URL, host ${host}): ${error.message.replace(/\s+/g, ' ')}`,
    )
  }
}

/** Writes a token with which the suite's instance can join. An instance that has joined before ignores it. */
export async function makeJoinToken(servers) {
  const script = 'services/gateway/dist/administration/join-token.js'
  const keys = (process.env.SLIPWAY_INSTANCE_LABELS ?? '').split(',').map((pair) => pair.split('=')[0])
  const labels = keys.filter((key) => key !== '').flatMap((key) => ['--label', key])
  const args = [script, '--expires-in-seconds', '600', '--file', joinTokenFile, ...labels]
  await complete(process.execPath, args, { env: { ...process.env, ...servers }, quiet: true })
}

function isFree({ port, host }) {
  return new Promise((resolve) => {
    const server = net.createServer()
    server.once('error', (error) => resolve(error.code !== 'EADDRINUSE' && error.code !== 'EACCES'))
    server.listen({ port, host, exclusive: true }, () => server.close(() => resolve(true)))
  })
}

/** Throws an Error that names the port, and the variable that changes it, when a service could not listen. */
export async function demandFreePorts(services) {
  for (const { name, listens } of services) {
    for (const listener of listens) {
      if (await isFree(listener)) continue
      throw new Error(
        `port ${listener.port}, for ${name}, is taken by another program: stop that program, or set ` +
          `${listener.variable} (SLIPWAY_PORT moves all ports of the suite)`,
      )
    }
  }
}
