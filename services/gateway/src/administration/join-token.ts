import { Strict } from '@slipway/contracts'
import { commonConfig, loadConfig } from '@slipway/runtime'
import { joinTokenCommand } from './join-token-command.ts'

const { DATABASE_URL } = commonConfig

await joinTokenCommand(process.argv.slice(2), {
  databaseUrl: () => loadConfig(Strict({ DATABASE_URL })).DATABASE_URL,
  print: (text) => void process.stdout.write(text),
}).catch((error: Error) => {
  process.stderr.write(`${error.message || String(error)}\n`)
  process.exitCode = 1
})
