import { Strict } from '@slipway/contracts'
import { createDatabase, resealAll } from '@slipway/database'
import { commonConfig, KeyRing, loadConfig } from '@slipway/runtime'

const { DATABASE_URL, SLIPWAY_ENCRYPTION_KEYS } = commonConfig

async function main(): Promise<void> {
  const config = loadConfig(Strict({ DATABASE_URL, SLIPWAY_ENCRYPTION_KEYS }))
  const keys = KeyRing.parse(config.SLIPWAY_ENCRYPTION_KEYS)
  const say = (line: string) => process.stdout.write(`${line}\n`)
  say(`Sealing every secret under the key ${keys.currentKeyId}. Configured keys: ${keys.keyIds.join(', ')}`)
  const database = createDatabase({
    url: config.DATABASE_URL,
    applicationName: 'slipway rotate keys',
    max: 1,
    tenant: '*',
  })
  try {
    await resealAll(database, keys, ({ place, rows, resealed }) => say(`${place}: ${resealed} of ${rows} rows`))
    say(`Done: every secret is sealed under the key ${keys.currentKeyId}. You can remove the other keys.`)
  } finally {
    await database.close()
  }
}

await main().catch((error: Error) => {
  process.stderr.write(
    `${error.message || String(error)}\nSolve this, then run the command again. It continues with the remaining rows.\n`,
  )
  process.exitCode = 1
})
