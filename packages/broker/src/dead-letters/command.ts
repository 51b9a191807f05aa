import { parseArgs } from 'node:util'
import { Strict } from '@slipway/contracts'
import { commonConfig, loadConfig } from '@slipway/runtime'
import { WORK_QUEUES } from '../topology.ts'
import { type DeadLetterFilter, type DeadLetters, openDeadLetters, type TreatedLetters } from './dead-letters.ts'
import type { DeadLetter } from './letter.ts'

const USAGE = `Usage: node packages/broker/dist/dead-letters/command.js COMMAND, with RABBITMQ_URL and SLIPWAY_NAMESPACE

  list                 says what could not be handled, and why; --limit 50
  show ID              all that is known of one, and the outline of its body; values are never shown
  replay ID… | --all   sends them once more to the queue where they failed
  drop ID… | --all     removes them for good

  --queue QUEUE, --type TYPE   only those (${WORK_QUEUES.join(', ')})
`

class UsageError extends Error {}

function say(line = ''): void {
  process.stdout.write(`${line}\n`)
}

const options = {
  limit: { type: 'string', default: '50' },
  queue: { type: 'string' },
  type: { type: 'string' },
  all: { type: 'boolean', default: false },
  help: { type: 'boolean', default: false },
} as const

function read() {
  try {
    return parseArgs({ options, allowPositionals: true })
  } catch (error) {
    throw new UsageError((error as Error).message)
  }
}

function tell({ id, queue, type, sent_at, reason }: DeadLetter): void {
  say(`${id}  ${sent_at || 'no time'.padEnd(24)}  ${queue ?? 'no queue'}  ${type || 'no type'}`)
  say(`              ${reason}`)
}

function tellTreated(word: string, { done, left }: TreatedLetters): void {
  for (const letter of done) say(`${letter.id}  ${word}: ${letter.type || 'no type'} of ${letter.queue ?? 'no queue'}`)
  for (const { letter, why } of left) say(`${letter.id}  left: ${why}`)
  say(`${done.length} ${word}, ${left.length} left`)
  if (left.length > 0) process.exitCode = 1
}

function limitOf(text: string): number {
  const limit = Number(text)
  if (!Number.isInteger(limit) || limit < 1) throw new UsageError('--limit must be a whole number from 1')
  return limit
}

/** The letters to replay or drop: ids, or `--all`. Without either, an error: an omission must not mean all. */
function choiceOf(ids: string[], values: { all: boolean } & DeadLetterFilter): DeadLetterFilter {
  if (ids.length > 0 === values.all) throw new UsageError('name ids, or say --all: one of the two')
  return { ...narrowed(values), ...(values.all ? {} : { ids }) }
}

const narrowed = ({ queue, type }: DeadLetterFilter): DeadLetterFilter => ({
  ...(queue === undefined ? {} : { queue }),
  ...(type === undefined ? {} : { type }),
})

function expectAll(ids: readonly string[], { done, left }: TreatedLetters): void {
  const found = new Set([...done, ...left.map(({ letter }) => letter)].map(({ id }) => id))
  const missing = ids.filter((id) => !found.has(id))
  if (missing.length > 0) throw new Error(`no dead letter has the id ${missing.join(', ')}`)
}

type Values = ReturnType<typeof read>['values']

const commands: Record<string, (letters: DeadLetters, ids: string[], values: Values) => Promise<void>> = {
  async list(letters, _ids, values) {
    const { letters: found, total } = await letters.list(narrowed(values), limitOf(values.limit))
    for (const letter of found) tell(letter)
    say(`${found.length} shown, ${total} in all`)
  },
  async show(letters, [id, ...more]) {
    if (id === undefined || more.length > 0) throw new UsageError('show takes one id')
    const found = await letters.show(id)
    if (found === null) throw new Error(`no dead letter has the id ${id}`)
    say(JSON.stringify({ ...found.letter, body: found.body }, null, 2))
  },
  async replay(letters, ids, values) {
    const treated = await letters.replay(choiceOf(ids, values))
    tellTreated('replayed', treated)
    expectAll(ids, treated)
  },
  async drop(letters, ids, values) {
    const treated = await letters.drop(choiceOf(ids, values))
    tellTreated('dropped', treated)
    expectAll(ids, treated)
  },
}

async function main(): Promise<void> {
  const { values, positionals } = read()
  const [name = '', ...ids] = positionals
  if (values.help) return say(USAGE)
  const command = Object.hasOwn(commands, name) ? commands[name] : undefined
  if (command === undefined) throw new UsageError(name === '' ? 'name a command' : `there is no command ${name}`)
  if (name === 'replay' || name === 'drop') choiceOf(ids, values)
  if (values.queue !== undefined && !WORK_QUEUES.some((queue) => queue === values.queue)) {
    throw new UsageError(`there is no queue ${values.queue}; there are: ${WORK_QUEUES.join(', ')}`)
  }
  const { RABBITMQ_URL, SLIPWAY_NAMESPACE } = commonConfig
  const config = loadConfig(Strict({ RABBITMQ_URL, SLIPWAY_NAMESPACE }))
  const letters = await openDeadLetters({ url: config.RABBITMQ_URL, namespace: config.SLIPWAY_NAMESPACE })
  try {
    await command(letters, ids, values)
  } finally {
    await letters.close()
  }
}

await main().catch((error: Error) => {
  const usage = error instanceof UsageError
  process.stderr.write(`${error.message || String(error)}\n${usage ? `\n${USAGE}` : ''}`)
  process.exitCode = usage ? 2 : 1
})
