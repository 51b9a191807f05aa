// Processes with a pid file in .slipway/run and a log in .slipway/logs, so that a later call finds what an earlier started.
import { spawn, spawnSync } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import { root, stateDir } from './settings.mjs'

const STOP_MS = 20_000
const runDir = path.join(stateDir, 'run')
const pidFile = (name) => path.join(runDir, `${name}.pid`)
export const logFile = (name) => path.join(stateDir, 'logs', `${name}.log`)
export const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms))

/** The command line of a living process, or '' (also for one that is dead but not yet reaped by its parent). */
function commandLine(pid) {
  if (fs.existsSync('/proc/self/cmdline')) {
    try {
      return fs.readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ')
    } catch {
      return ''
    }
  }
  return spawnSync('ps', ['-o', 'args=', '-p', String(pid)], { encoding: 'utf8' }).stdout ?? ''
}

/**
 * The id of the process that was started under this name and still lives, or null. `script` must be on its command
 * line: after a restart of the machine the number in the file may belong to anybody.
 */
export function find(name, script) {
  if (!fs.existsSync(pidFile(name))) return null
  const pid = Number(fs.readFileSync(pidFile(name), 'utf8'))
  return pid > 0 && commandLine(pid).includes(script) ? pid : null
}

export function writePid(name, pid) {
  fs.mkdirSync(runDir, { recursive: true })
  fs.writeFileSync(pidFile(name), `${pid}\n`)
}

export function removePid(name) {
  fs.rmSync(pidFile(name), { force: true })
}

/** Starts a service; returns { child, logStart }, where logStart is the length of its log before. */
export function start(service) {
  fs.mkdirSync(path.dirname(logFile(service.name)), { recursive: true })
  const log = fs.openSync(logFile(service.name), 'a')
  const logStart = fs.fstatSync(log).size
  // A session of its own: Ctrl-C in the terminal must not reach the services before the one that stops them in order.
  const child = spawn(process.execPath, [service.main], {
    cwd: root,
    env: service.env,
    detached: true,
    stdio: ['ignore', log, log],
  })
  fs.closeSync(log)
  if (child.pid) writePid(service.name, child.pid)
  return { child, logStart }
}

/** The last lines that a service wrote after the given length of its log. */
export function lastLines(name, from = 0, count = 12) {
  if (!fs.existsSync(logFile(name))) return []
  return fs.readFileSync(logFile(name)).subarray(from).toString('utf8').trimEnd().split('\n').slice(-count)
}

function signal(pid, name) {
  try {
    process.kill(pid, name)
  } catch (error) {
    if (error.code !== 'ESRCH') throw error
  }
}

/** Asks the services to stop, waits up to 20 s, and kills the rest; returns the names of those that had to be killed. */
export async function stop(list) {
  const living = () => list.map((service) => [service, find(service.name, service.main)]).filter(([, pid]) => pid)
  for (const [, pid] of living()) signal(pid, 'SIGTERM')
  const deadline = Date.now() + STOP_MS
  while (living().length > 0 && Date.now() < deadline) await sleep(50)
  const killed = living()
  for (const [, pid] of killed) signal(pid, 'SIGKILL')
  for (const { name } of list) removePid(name)
  return killed.map(([service]) => service.name)
}
