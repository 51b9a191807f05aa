// Follows the logs of the suite, each line with its service's name before it.
import fs from 'node:fs'
import { StringDecoder } from 'node:string_decoder'
import { lastLines, logFile, sleep } from './processes.mjs'

const HISTORY_LINES = 20

function follower(name, width) {
  const file = logFile(name)
  const print = (line) => process.stdout.write(`${name.padEnd(width)} | ${line}\n`)
  const size = () => (fs.existsSync(file) ? fs.statSync(file).size : 0)
  const decoder = new StringDecoder('utf8')
  let offset = size()
  let rest = ''
  for (const line of lastLines(name, 0, HISTORY_LINES)) print(line)
  return () => {
    if (size() < offset) offset = 0
    if (size() === offset) return
    const chunk = fs.readFileSync(file).subarray(offset)
    offset += chunk.length
    const lines = (rest + decoder.write(chunk)).split('\n')
    rest = lines.pop()
    for (const line of lines) print(line)
  }
}

/** Prints the last lines of the given services' logs, then what is added, until Ctrl-C. */
export async function followLogs(names) {
  let stopped = false
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
    process.on(signal, () => {
      stopped = true
    })
  }
  const width = Math.max(...names.map((name) => name.length))
  const followers = names.map((name) => follower(name, width))
  while (!stopped) {
    for (const follow of followers) follow()
    await sleep(200)
  }
}
