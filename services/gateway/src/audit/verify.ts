import { verifyCommand } from './verify-command.ts'

process.exitCode = await verifyCommand(process.argv.slice(2), {
  databaseUrl: process.env['DATABASE_URL'],
  print: (text) => process.stdout.write(text),
  printError: (text) => process.stderr.write(text),
})
