import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { uuidv7 } from '@slipway/runtime'
import { type DeadLetters, openDeadLetters } from '../src/dead-letters/dead-letters.ts'
import { main } from '../src/dead-letters/main.ts'
import { type Broker, exchangeName, PoisonMessage, queueName } from '../src/index.ts'
import { eventually, Harness, RABBITMQ_URL, reasonOf, removeInstance } from './harness.ts'

const harness = new Harness()
const { namespace } = harness
let broker: Broker
let letters: DeadLetters

beforeAll(async () => {
  broker = await harness.broker()
  letters = await openDeadLetters({ url: RABBITMQ_URL, namespace })
})
beforeEach(() => letters.drop({}))
afterEach(async () => {
  await broker.stopConsuming()
  await harness.closeBrokers()
  broker = await harness.broker()
})
afterAll(async () => {
  await letters.close()
  await harness.remove()
})

const waiting = async (queue: string) =>
  (await (await harness.channel()).checkQueue(`${namespace}.${queue}`)).messageCount
/** Waits until the queue `dead-letters` has this count. RabbitMQ updates its counts with a delay. */
const dead = (count: number) => eventually(async () => (await waiting('dead-letters')) === count)

/** Puts content on a work queue that no service would send. */
async function plant(content: string, options: Record<string, unknown> = {}, queue = 'executor.commands') {
  const channel = await harness.channel()
  channel.sendToQueue(queueName(namespace, queue as 'executor.commands'), Buffer.from(content), options)
}

/** Consumes the commands of the executor-bridge. The handler calls those that `refuse` accepts poison. */
async function consume(refuse: (reason: string) => boolean, target = broker): Promise<string[]> {
  const handled: string[] = []
  await target.consume('executor.commands', {
    prefetch: 4,
    handle: async (envelope) => {
      const reason = reasonOf(envelope.body)
      if (refuse(reason)) throw new PoisonMessage(`it says ${reason}`)
      handled.push(reason)
    },
  })
  return handled
}

describe('dead letters', () => {
  test('the list shows where and why any message failed', async () => {
    await consume((reason) => reason === 'poison')
    await broker.publish([removeInstance({ reason: 'poison', request_id: 'req-7' })])
    await plant('{"half":', { messageId: 'half', type: 'instance.delete' })
    await plant('\u0000\u001b[2Jnot ours', { type: 'run\u001b[31m.stop' })
    await plant('{}', { messageId: 'strange', type: 'no.such' })
    await dead(4)
    const { letters: found, total } = await letters.list({}, 50)
    expect(total).toBe(4)
    expect(found.map(({ queue }) => queue)).toEqual(Array(4).fill('executor.commands'))
    expect(found.map(({ reason }) => reason).sort()).toEqual([
      'it has no message id',
      'it says poison',
      'its body is not JSON',
      'its body is not valid: unknown message type "no.such"',
    ])
    expect(found.find(({ reason }) => reason === 'it says poison')).toMatchObject({
      type: 'instance.delete',
      request_id: 'req-7',
    })
    expect(JSON.stringify(found)).not.toMatch(/\\u00/)
    expect((await letters.list({ type: 'no.such' }, 50)).letters).toHaveLength(1)
    expect((await letters.list({ queue: 'planner.commands' }, 50)).letters).toHaveLength(0)
    expect((await letters.list({}, 2)).letters).toHaveLength(2)
    await dead(4)
  })

  test('a message that RabbitMQ dead-lettered itself keeps its origin, however often it is listed', async () => {
    // Six consumers die with the message: one more than the delivery limit of RabbitMQ.
    await broker.publish([removeInstance({ reason: 'deadly' })])
    for (let crash = 0; crash <= 5; crash += 1) {
      const channel = await harness.channel()
      await eventually(() => channel.get(queueName(namespace, 'executor.commands')))
      await channel.close()
    }
    await dead(1)
    const looks = []
    for (let look = 0; look < 25; look += 1) looks.push((await letters.list({}, 1)).letters[0])
    expect([...new Set(looks.map((letter) => JSON.stringify(letter)))]).toEqual([JSON.stringify(looks[0])])
    expect(looks[0]).toMatchObject({ queue: 'executor.commands', reason: expect.stringContaining('delivery') })
    // RabbitMQ 4 deletes a message when its delivery count exceeds the limit, so listing must not raise the count.
    const message = await (await harness.channel()).get(queueName(namespace, 'dead-letters'))
    expect(message && Number(message.properties.headers?.['x-delivery-count'] ?? 0)).toBeLessThan(20)
    await (await harness.channel()).close()
  })

  test('the outline shows ids and known words, and no other values', async () => {
    await consume(() => true)
    const secret = 'correct-horse-battery'
    const instance_id = uuidv7()
    const body = { instance_id, epoch: 7, note: secret, variables: { pin: 4711 }, nested: { api_key: secret } }
    await plant(JSON.stringify(body), { messageId: 'm-1', type: 'instance.delete' })
    await plant(secret, { messageId: 'm-2', type: 'instance.delete' })
    await dead(2)
    const { letters: found } = await letters.list({}, 50)
    const shown = await Promise.all([letters.show(found[0]?.id ?? '')])
    expect(shown[0]).toMatchObject({
      letter: { message_id: 'm-1' },
      body: { instance_id, epoch: 7, note: '[text, 21 characters]', variables: '[1 fields, not shown]' },
    })
    expect((await letters.show(found[1]?.id ?? ''))?.body).toBe('[no JSON, 21 bytes]')
    expect(JSON.stringify([found, shown])).not.toMatch(/correct-horse|4711/)
    expect(await letters.show('0123456789ab')).toBeNull()
  })

  test('a replay sends each message once, to the queue where it failed, as a first attempt', async () => {
    let broken = true
    const attempts: string[] = []
    const event = { exchange: 'events' as const, type: 'run.finished', request_id: null, message_id: uuidv7() }
    const take = async (target: Broker) => {
      await target.consume('dispatcher.events', {
        prefetch: 4,
        handle: async (envelope, { attempt }) => {
          if (broken) throw new PoisonMessage('not yet understood')
          attempts.push(`${envelope.message_id} ${attempt}`)
        },
      })
    }
    await take(broker)
    const seen: string[] = []
    await broker.consumeEventsExclusively(['run.*'], async ({ type }) => void seen.push(type))
    const body = { deployment_id: uuidv7(), epoch: 1, outcome: 'success', error_message: null }
    await broker.publish([{ ...event, body }])
    await dead(1)
    // The crash of a replay between publish and acknowledgement leaves a copy.
    const channel = await harness.channel()
    const copy = await channel.get(queueName(namespace, 'dead-letters'))
    if (copy === false) throw new Error('no dead letter')
    channel.publish(exchangeName(namespace, 'dead'), '', copy.content, copy.properties)
    channel.nack(copy)
    await dead(2)

    broken = false
    const { done, left } = await letters.replay({ queue: 'dispatcher.events' })
    expect([done.length, left.length]).toEqual([1, 0])
    await eventually(() => attempts.length === 1)
    await eventually(async () => (await waiting('dispatcher.events')) === 0)
    expect(attempts).toEqual([`${event.message_id} 1`])
    expect(seen).toEqual(['run.finished'])
    await dead(0)
  })

  test('messages that fail again after a replay become dead letters again, and the replay ends', async () => {
    await consume(() => true)
    const reasons = Array.from({ length: 40 }, (_, index) => `poison ${index}`)
    await broker.publish(reasons.map((reason) => removeInstance({ reason })))
    await dead(40)
    expect((await letters.replay({})).done).toHaveLength(40)
    await dead(40)
    const { letters: again } = await letters.list({}, 50)
    expect(again.map(({ reason }) => reason).sort()).toEqual(reasons.map((reason) => `it says ${reason}`).sort())
  })

  test('messages past their deadline or of unknown origin are not replayed, and the result says why', async () => {
    await consume(() => true)
    await broker.publish([removeInstance({ reason: 'late', deadline: new Date(Date.now() + 600_000).toISOString() })])
    await dead(1)
    // The same dead letter, after its deadline.
    const channel = await harness.channel()
    const letter = await channel.get(queueName(namespace, 'dead-letters'), { noAck: true })
    if (letter === false) throw new Error('no dead letter')
    const deadline = new Date(Date.now() - 1_000).toISOString()
    const headers = { ...letter.properties.headers, 'x-slipway-deadline': deadline }
    channel.publish(exchangeName(namespace, 'dead'), '', letter.content, { ...letter.properties, headers })
    channel.publish(exchangeName(namespace, 'dead'), '', Buffer.from('{}'), { messageId: 'x' })
    await dead(2)
    const { done, left } = await letters.replay({})
    expect(done).toEqual([])
    expect(left.map(({ why }) => why).sort()).toEqual([
      `its deadline passed at ${deadline}`,
      'where it failed is not known',
    ])
    await dead(2)
    expect((await letters.drop({})).done).toHaveLength(2)
    await dead(0)
  })
})

async function call(args: string[], env: Record<string, string> = {}) {
  const [stdout, stderr]: [string[], string[]] = [[], []]
  const code = await main(args, {
    env: { RABBITMQ_URL, SLIPWAY_NAMESPACE: namespace, ...env },
    stdout: { write: (text: string) => stdout.push(text) > 0 },
    stderr: { write: (text: string) => stderr.push(text) > 0 },
  })
  return { code, stdout: stdout.join(''), stderr: stderr.join('') }
}

describe('the dead-letters command', () => {
  test('lists, shows, replays and drops each named message alone', async () => {
    let broken = true
    const handled = await consume(() => broken)
    await broker.publish([
      removeInstance({ reason: 'one' }),
      removeInstance({ reason: 'two' }),
      removeInstance({ reason: 'three' }),
    ])
    await dead(3)
    const listed = await call(['list'])
    expect(listed.stdout).toMatch(/3 shown, 3 in all\n$/)
    const idOf = (word: string) => new RegExp(`^(\\w{12})  .*\\n +it says ${word}$`, 'm').exec(listed.stdout)?.[1] ?? ''
    expect(JSON.parse((await call(['show', idOf('two')])).stdout)).toMatchObject({
      type: 'instance.delete',
      body: { caller: { username: '[text, 3 characters]' } },
    })
    broken = false
    expect(await call(['replay', idOf('one')])).toMatchObject({ code: 0 })
    await eventually(() => handled.length === 1)
    expect(await call(['drop', idOf('two')])).toMatchObject({ code: 0 })
    expect(handled).toEqual(['one'])
    expect((await call(['list'])).stdout).toContain(`${idOf('three')}  `)
    expect(await call(['drop', idOf('two')])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('no dead letter'),
    })
    await dead(1)
    expect(await call(['drop', '--all'])).toMatchObject({ code: 0 })
    await dead(0)
  })

  test.each([
    [['drop'], 2, 'one of the two'],
    [['replay', 'x', '--all'], 2, 'one of the two'],
    [['burn'], 2, 'no command burn'],
    [['list', '--limit', '0'], 2, '--limit'],
    [['list', '--queue', 'kitchen'], 2, 'no queue kitchen'],
    [['list', '--tenant', 'a'], 2, '--tenant'],
  ])('refuses %j and says why', async (args, code, words) => {
    expect(await call(args)).toMatchObject({ code, stderr: expect.stringContaining(words) })
  })

  test('names the setting if the queue does not exist, and the address if RabbitMQ does not answer', async () => {
    const elsewhere = await call(['list'], { SLIPWAY_NAMESPACE: 'nowhere' })
    expect(elsewhere).toMatchObject({ code: 1, stderr: expect.stringContaining('SLIPWAY_NAMESPACE') })
    const nobody = await call(['list'], { RABBITMQ_URL: 'amqp://user:hunter22@127.0.0.1:1' })
    expect(nobody).toMatchObject({ code: 1, stderr: expect.stringContaining('127.0.0.1') })
    expect(nobody.stderr).not.toContain('hunter22')
  })
})
