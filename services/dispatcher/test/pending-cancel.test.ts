import { expect, test } from '@jest/globals'
import { uuidv7 } from '@slipway/runtime'
import { cancelPending } from '../src/pending/cancel.ts'
import { testDatabase } from './database.ts'
import { ADMIN, addInstance } from './fixtures.ts'
import { requestsOf } from './requests.ts'

const db = await testDatabase()
const { database, asDispatcher } = db
const { dispatchAll, submit, pending } = requestsOf(db)

test('a cancel takes the request out of the queue; a second one is a conflict', async () => {
  const id = await submit()
  const cancel = () =>
    cancelPending(asDispatcher, { pending_request_id: id, caller: ADMIN }, { command_id: uuidv7(), request_id: null })
  expect(await cancel()).toEqual({ pending_request_id: id })
  await addInstance(database, 1)
  await dispatchAll()
  expect((await pending(id)).status).toBe('cancelled')
  await expect(cancel()).rejects.toMatchObject({ code: 'CONFLICT' })
  await expect(
    cancelPending(
      asDispatcher,
      { pending_request_id: uuidv7(), caller: ADMIN },
      { command_id: uuidv7(), request_id: null },
    ),
  ).rejects.toMatchObject({ code: 'NOT_FOUND' })
})

test('exactly one of a simultaneous cancel and dispatch succeeds', async () => {
  const ids: string[] = []
  for (let n = 0; n < 10; n += 1) ids.push(await submit())
  await addInstance(database, 10)
  const cancelled = ids.map((id) =>
    cancelPending(
      asDispatcher,
      { pending_request_id: id, caller: ADMIN },
      { command_id: uuidv7(), request_id: null },
    ).then(
      () => true,
      () => false,
    ),
  )
  await dispatchAll()
  const hasWon = await Promise.all(cancelled)
  for (const [index, id] of ids.entries()) {
    const { status, deployment_id } = await pending(id)
    expect([status, deployment_id === null]).toEqual(hasWon[index] ? ['cancelled', true] : ['dispatched', false])
  }
})
