import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import {
  type BridgeWithDatabase,
  type Joined,
  joinInstance,
  post,
  postSync,
  startBridge,
  startBridgeWithDatabase,
  type TestBridge,
} from './setup.ts'

let bridge: BridgeWithDatabase
/** Another replica on the same database. */
let second: TestBridge

beforeAll(async () => {
  bridge = await startBridgeWithDatabase()
  second = await startBridge(bridge.database)
})
afterAll(async () => {
  await second?.close()
  await bridge?.close()
})

const isGood = async (credential: string, at: TestBridge = bridge) => {
  const { status } = await postSync(at, { credential })
  return status === 200
}
const rotate = async (credential: string, at: TestBridge = bridge) => {
  const { status, body } = await post(`${at.url}/v1/instances/credential`, credential, {})
  expect(status).toBe(200)
  return body.credential as string
}
const hourLater = ({ id }: Joined) =>
  bridge.database.query(
    `UPDATE instances SET former_credential_until = former_credential_until - interval '1 hour' WHERE id = $1`,
    [id],
  )

/** An instance that has used its credential. */
async function member(): Promise<Joined> {
  const instance = await joinInstance(bridge)
  expect(await isGood(instance.credential)).toBe(true)
  return instance
}

describe('a new credential', () => {
  test('leaves the former one valid until its own first use, and for an hour after that', async () => {
    const instance = await member()
    const next = await rotate(instance.credential)
    expect(next).not.toBe(instance.credential)
    // The former credential stays valid for as long as the new one is not used.
    await hourLater(instance)
    expect(await isGood(instance.credential)).toBe(true)
    expect(await isGood(next)).toBe(true)
    expect(await isGood(instance.credential)).toBe(true)
    await hourLater(instance)
    expect([await isGood(instance.credential), await isGood(next)]).toEqual([false, true])
  })

  test('whose answer was lost is replaced by the next one, and the former one stays valid', async () => {
    const instance = await member()
    const lost = await rotate(instance.credential)
    const next = await rotate(instance.credential)
    expect([await isGood(lost), await isGood(next), await isGood(instance.credential)]).toEqual([false, true, true])
  })

  test('is not stored in clear text, and is given only for a valid credential', async () => {
    const instance = await member()
    const next = await rotate(instance.credential)
    const { rows } = await bridge.database.query('SELECT * FROM instances WHERE id = $1', [instance.id])
    expect(JSON.stringify(rows)).not.toContain(next.split('.')[1])
    for (const credential of [undefined, 'nobody', `${instance.id}.${next.split('.')[1]?.toLowerCase()}`]) {
      expect((await post(`${bridge.url}/v1/instances/credential`, credential, {})).status).toBe(401)
    }
  })

  test('can be exchanged for a further one', async () => {
    const instance = await member()
    const next = await rotate(instance.credential)
    expect(await isGood(next)).toBe(true)
    expect(await isGood(await rotate(next))).toBe(true)
  })
})

describe('two bridges', () => {
  test('accept a new credential that is first used at both at the same time', async () => {
    const instance = await member()
    for (let round = 0; round < 5; round += 1) {
      const next = await rotate(instance.credential)
      const uses = Array.from({ length: 8 }, (_, n) => isGood(next, n % 2 === 0 ? bridge : second))
      expect(await Promise.all(uses)).toEqual(Array(8).fill(true))
      expect(await isGood(instance.credential, second)).toBe(true)
      instance.credential = next
    }
  })

  test('that give new credentials at the same time leave the present one and the last one valid', async () => {
    const instance = await member()
    const given = await Promise.all([rotate(instance.credential), rotate(instance.credential, second)])
    expect(await isGood(instance.credential)).toBe(true)
    const good = []
    for (const credential of given) if (await isGood(credential, second)) good.push(credential)
    expect(good).toHaveLength(1)
    expect(await isGood(instance.credential)).toBe(true)
  })
})
