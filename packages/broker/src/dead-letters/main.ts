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

const [DONE, FAILED, MISUSED] = [0, 1, 2]

/** What the command reads and writes; a process has all of it. */
export interface CommandIo {
  env: NodeJS.ProcessEnv
  stdout: Pick<NodeJS.WritableStream, 'write'>
  stderr: Pick<NodeJS.WritableStream, 'write'>
}

type Say = (line: string) => void

const options = {
  limit: { type: 'string', default: '50' },
  queue: { type: 'string' },
  type: { type: 'string' },
  all: { type: 'boolean', default: false },
  help: { type: 'boolean', default: false },
} as const

function read(args: string[]) {
  try {
    return parseArgs({ args, options, allowPositionals: true })
  } catch (error) {
    throw new UsageError((error as Error).message)
  }
}

function tell(say: Say, { id, queue, type, sent_at, reason }: DeadLetter): void {
  say(`${id}  ${sent_at || 'no time'.padEnd(24)}  ${queue ?? 'no queue'}  ${type || 'no type'}`)
  say(`              ${reason}`)
}

function tellTreated(say: Say, word: string, { done, left }: TreatedLetters): number {
  for (const letter of done) say(`${letter.id}  ${word}: ${letter.type || 'no type'} of ${letter.queue ?? 'no queue'}`)
  for (const { letter, why } of left) say(`${letter.id}  left: ${why}`)
  say(`${done.length} ${word}, ${left.length} left`)
  return left.length > 0 ? FAILED : DONE
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

/** Each returns the exit code. */
const commands: Record<string, (letters: DeadLetters, ids: string[], values: Values, say: Say) => Promise<number>> = {
  async list(letters, _ids, values, say) {
    const { letters: found, total } = await letters.list(narrowed(values), limitOf(values.limit))
    for (const letter of found) tell(say, letter)
    say(`${found.length} shown, ${total} in all`)
    return DONE
  },
  async show(letters, [id, ...more], _values, say) {
    if (id === undefined || more.length > 0) throw new UsageError('show takes one id')
    const found = await letters.show(id)
    if (found === null) throw new Error(`no dead letter has the id ${id}`)
    say(JSON.stringify({ ...found.letter, body: found.body }, null, 2))
    return DONE
  },
  async replay(letters, ids, values, say) {
    const treated = await letters.replay(choiceOf(ids, values))
    const code = tellTreated(say, 'replayed', treated)
    expectAll(ids, treated)
    return code
  },
  async drop(letters, ids, values, say) {
    const treated = await letters.drop(choiceOf(ids, values))
    const code = tellTreated(say, 'dropped', treated)
    expectAll(ids, treated)
    return code
  },
}

async function run(args: string[], env: NodeJS.ProcessEnv, say: Say): Promise<number> {
  const { values, positionals } = read(args)
  const [name = '', ...ids] = positionals
  if (values.help) {
    say(USAGE)
    return DONE
  }
  const command = Object.hasOwn(commands, name) ? commands[name] : undefined
  if (command === undefined) throw new UsageError(name === '' ? 'name a command' : `there is no command ${name}`)
  if (name === 'replay' || name === 'drop') choiceOf(ids, values)
  if (values.queue !== undefined && !WORK_QUEUES.some((queue) => queue === values.queue)) {
    throw new UsageError(`there is no queue ${values.queue}; there are: ${WORK_QUEUES.join(', ')}`)
  }
  const { RABBITMQ_URL, SLIPWAY_NAMESPACE } = commonConfig
  const config = loadConfig(Strict({ RABBITMQ_URL, SLIPWAY_NAMESPACE }), env)
  const letters = await openDeadLetters({ url: config.RABBITMQ_URL, namespace: config.SLIPWAY_NAMESPACE })
  try {
    return await command(letters, ids, values, say)
  } finally {
    await letters.close()
  }
}

/** Returns the exit code. */
export async function main(args: string[], { env, stdout, stderr }: CommandIo): Promise<number> {
  try {
    return await run(args, env, (line) => void stdout.write(`${line}\n`))
  } catch (error) {
    const isMisuse = error instanceof UsageError
    stderr.write(`${(error as Error).message || String(error)}\n${isMisuse ? `\n${USAGE}` : ''}`)
    return isMisuse ? MISUSED : FAILED
  }
}
