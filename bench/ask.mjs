import fs from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'

/** What a process says of its event loop and memory since it was asked last, by lag.mjs, which is loaded into it. */
export async function ask(pid, folder) {
  const file = `${folder}/${pid}.json`
  fs.rmSync(file, { force: true })
  process.kill(pid, 'SIGUSR2')
  while (!fs.existsSync(file)) await sleep(5)
  return JSON.parse(fs.readFileSync(file, 'utf8'))
}
