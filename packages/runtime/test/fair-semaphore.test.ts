import { expect, test } from '@jest/globals'
import { FairSemaphore, LineFull, NoTurn } from '@slipway/runtime'

const settled = () => new Promise((resolve) => setImmediate(resolve))

/** A task that runs until `end` is called. */
function heldTasks(semaphore: FairSemaphore) {
  const running: { name: string; end: () => void }[] = []
  const begin = (key: string, name: string) =>
    semaphore.run(key, () => new Promise<void>((end) => running.push({ name, end })))
  const end = async (name: string) => {
    const index = running.findIndex((one) => one.name === name)
    running.splice(index, 1)[0]?.end()
    await settled()
  }
  return { begin, end, names: () => running.map(({ name }) => name) }
}

test('each key has its limit, and keys that wait take turns', async () => {
  const { begin, end, names } = heldTasks(new FairSemaphore({ limit: 3, perKey: 2, maxWaiting: 10 }))
  const all = ['a1', 'a2', 'a3', 'a4', 'b1', 'b2', 'c1'].map((name) => begin(name.charAt(0), name))
  await settled()
  expect(names()).toEqual(['a1', 'a2', 'b1'])
  await end('a1')
  expect(names()).toEqual(['a2', 'b1', 'a3'])
  await end('b1')
  expect(names()).toEqual(['a2', 'a3', 'b2'])
  // Tasks of a wait since before, but it is the turn of c.
  await end('a3')
  expect(names()).toEqual(['a2', 'b2', 'c1'])
  await end('b2')
  expect(names()).toEqual(['a2', 'c1', 'a4'])
  for (const name of ['a2', 'c1', 'a4']) await end(name)
  await Promise.all(all)
})

test('the line of a key is bounded, and a failed task frees its place', async () => {
  const semaphore = new FairSemaphore({ limit: Number.POSITIVE_INFINITY, perKey: 1, maxWaiting: 1 })
  const { begin, end } = heldTasks(semaphore)
  const first = begin('a', 'a1')
  const second = semaphore.run('a', () => Promise.reject(new Error('broken')))
  await expect(semaphore.run('a', async () => {})).rejects.toThrow(LineFull)
  await expect(semaphore.run('b', async () => 'free')).resolves.toBe('free')
  const failed = expect(second).rejects.toThrow('broken')
  await end('a1')
  await Promise.all([first, failed])
  await expect(semaphore.run('a', async () => 'free')).resolves.toBe('free')
})

test('a task that waits for too long leaves the line', async () => {
  const semaphore = new FairSemaphore({ limit: 1, perKey: 1, maxWaiting: 1 })
  const { begin, end } = heldTasks(semaphore)
  const first = begin('a', 'a1')
  const until = performance.now()
  await expect(semaphore.run('a', async () => {}, { until })).rejects.toThrow(NoTurn)
  await expect(semaphore.run('b', async () => {}, { until })).rejects.toThrow(NoTurn)
  const second = semaphore.run('a', async () => 'free', { until: until + 60_000 })
  await end('a1')
  await first
  await expect(second).resolves.toBe('free')
})
