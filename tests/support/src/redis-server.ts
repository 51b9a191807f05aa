import { type ChildProcess, spawn } from 'node:child_process'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { Redis } from 'ioredis'
import { freePort } from './ports.ts'
import { waitFor } from './waiting.ts'

/** A separate Redis for one test, which may flush, kill and restart it. */
export interface PrivateRedis {
  url: string
  flush(): Promise<void>
  /** Kills Redis. It stores nothing on disk, so it is empty after a restart. */
  kill(): Promise<void>
  start(): Promise<void>
  stop(): Promise<void>
}

/** @param acl the contents of an ACL file that lets the user `default` with `password` in */
export async function startRedis({ acl, password }: { acl?: string; password?: string } = {}): Promise<PrivateRedis> {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'slipway-redis-'))
  const port = await freePort()
  const url = `redis://${password ? `:${password}@` : ''}127.0.0.1:${port}`
  const aclFile = path.join(folder, 'users.acl')
  if (acl !== undefined) fs.writeFileSync(aclFile, acl)
  let child: ChildProcess | null = null

  const ask = async <T>(question: (redis: Redis) => Promise<T>): Promise<T> => {
    const redis = new Redis(url, { lazyConnect: true, retryStrategy: () => null })
    redis.on('error', () => {})
    try {
      await redis.connect()
      return await question(redis)
    } finally {
      redis.disconnect()
    }
  }
  const redis: PrivateRedis = {
    url,
    async flush() {
      await ask((one) => one.flushall())
    },
    async kill() {
      const dying = child
      child = null
      if (dying === null || dying.exitCode !== null || dying.signalCode !== null) return
      const gone = new Promise((resolve) => dying.once('exit', resolve))
      dying.kill('SIGKILL')
      await gone
    },
    async start() {
      const address = ['--port', String(port), '--bind', '127.0.0.1']
      const storage = ['--save', '', '--appendonly', 'no', '--dir', folder]
      // Detached, so that Ctrl-C ends it only after what uses it.
      const users = acl === undefined ? [] : ['--aclfile', aclFile]
      child = spawn('redis-server', [...address, ...storage, ...users], { stdio: 'ignore', detached: true })
      child.once('error', () => {})
      await waitFor(() => ask((one) => one.ping()), { what: 'Redis to answer' })
    },
    async stop() {
      await redis.kill()
      fs.rmSync(folder, { recursive: true, force: true })
    },
  }
  await redis.start()
  return redis
}
