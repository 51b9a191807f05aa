import { text } from 'node:stream/consumers'
import { Strict } from '@slipway/contracts'
import { commonConfig, loadConfig } from '@slipway/runtime'
import { resetPasswordCommand } from './reset-password-command.ts'

const { DATABASE_URL } = commonConfig

await resetPasswordCommand(process.argv.slice(2), {
  databaseUrl: () => loadConfig(Strict({ DATABASE_URL })).DATABASE_URL,
  readStdin: () => text(process.stdin),
  print: (line) => void process.stdout.write(line),
}).catch((error: Error) => {
  process.stderr.write(`${error.message || String(error)}\n`)
  process.exitCode = 1
})
