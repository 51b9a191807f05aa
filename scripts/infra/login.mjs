// login.mjs SERVER URL: exits 0 when the server lets us in with the user and password of the URL, else 1.
import { createRequire } from 'node:module'

const TIMEOUT_MS = 3_000
const from = (workspace) => createRequire(new URL(`../../${workspace}/package.json`, import.meta.url))

const logins = {
  async postgres(url) {
    const { Client } = from('packages/database')('pg')
    const client = new Client({ connectionString: url, connectionTimeoutMillis: TIMEOUT_MS })
    client.on('error', () => {})
    await client.connect()
    await client.end()
  },
  async rabbitmq(url) {
    const { connect } = from('packages/broker')('amqplib')
    const connection = await connect(url, { timeout: TIMEOUT_MS })
    await connection.close()
  },
  async redis(url) {
    const { Redis } = from('services/gateway')('ioredis')
    const redis = new Redis(url, {
      lazyConnect: true,
      connectTimeout: TIMEOUT_MS,
      retryStrategy: null,
      maxRetriesPerRequest: 0,
    })
    redis.on('error', () => {})
    await redis.connect()
    // Without a password on the server, connecting succeeds after a warning: such a server is not ours.
    const { username, password } = new URL(url)
    const user = username ? [decodeURIComponent(username)] : []
    if (password) await redis.call('AUTH', ...user, decodeURIComponent(password))
    await redis.ping()
    redis.disconnect()
  },
}

const [server, url] = process.argv.slice(2)
const login = logins[server]
if (!login || !url) {
  console.error('usage: login.mjs postgres|rabbitmq|redis URL')
  process.exit(2)
}
setTimeout(() => process.exit(1), 2 * TIMEOUT_MS).unref()
try {
  await login(url)
  process.exit(0)
} catch {
  process.exit(1)
}
