// Long lists of the console in a real browser: a log of more than a million lines, and a grid with many targets.
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals'
import {
  type Api,
  addLocalTargets,
  connectTo,
  createAction,
  createLocalTarget,
  createSequence,
  deploymentEnd,
  loginToSuite,
  type Suite,
  startSuite,
  waitFor,
} from '@slipway/testing'
import type { Browser, Locator } from 'playwright-core'
import { launch, Visitor } from './browser.ts'

type Database = Awaited<ReturnType<typeof connectTo>>

const LINES = 1_200_000
const LINE_HEIGHT = 20

let suite: Suite
let api: Api
let database: Database
let browser: Browser
let visitor: Visitor

beforeAll(async () => {
  ;[suite, browser] = await Promise.all([startSuite(), launch()])
  api = await loginToSuite(suite)
  database = await connectTo(suite.databaseUrl)
})
afterEach(() => visitor?.leave())
afterAll(async () => {
  await database?.end()
  await browser?.close()
  await suite?.stop()
})

async function open(path: string) {
  visitor = await Visitor.arrive(browser, suite)
  await visitor.login(suite.admin, path)
  return visitor.page
}

async function run(script: string): Promise<string> {
  const target_ids = [await createLocalTarget(api)]
  const { body } = await api.post('/deployments', { action_id: await createAction(api, { script }), target_ids })
  return body.deployment_id
}

/** An ended deployment with a log whose lines contain their numbers. */
async function withLongLog(): Promise<string> {
  const id = await run('true')
  await deploymentEnd(api, id)
  await database.query('DELETE FROM log_chunks WHERE deployment_id = $1', [id])
  await database.query(
    `INSERT INTO log_chunks (deployment_id, first_line, line_count, lines)
     SELECT $1, first, 2000, (SELECT jsonb_agg(jsonb_build_object(
         't', 1763900000000 + n, 'i', 0, 'a', 0, 's', 'o', 'l', 'info', 'm', 'line ' || n) ORDER BY n)
       FROM generate_series(first, first + 1999) n)
     FROM generate_series(0::bigint, $2::bigint - 2000, 2000) first`,
    [id, LINES],
  )
  return id
}

/** The numbers of the lines in view. Waits until the view is full and has no gaps. */
async function linesInView(log: Locator): Promise<number[]> {
  return await waitFor(
    async () => {
      const rows = await log.evaluate((frame) => {
        const view = frame.getBoundingClientRect()
        return [...frame.querySelectorAll('.log-line')]
          .map((row) => ({ box: row.getBoundingClientRect(), text: row.querySelector('[data-testid]')?.textContent }))
          .filter(({ box }) => box.bottom > view.top + 1 && box.top < view.bottom - 1)
          .map(({ text }) => text ?? '')
      })
      const numbers = rows.map((text) => Number(/^line (\d+)$/.exec(text)?.[1]))
      const height = await log.evaluate((frame) => frame.clientHeight)
      const isFull = numbers.length >= Math.floor(height / LINE_HEIGHT)
      return isFull && numbers.every((number, place) => number === (numbers[0] ?? 0) + place) ? numbers : null
    },
    { what: 'a view that is full of lines in their order' },
  )
}

describe('a log of 1,200,000 lines', () => {
  let id: string
  beforeAll(async () => {
    id = await withLongLog()
  })

  test('can be scrolled to its begin, to its end, to any place, and line by line', async () => {
    const page = await open(`/deployments/${id}?tab=log`)
    const log = page.getByRole('log')
    await visitor.sees(`${LINES.toLocaleString('en-US')} lines`)
    expect((await linesInView(log)).at(-1)).toBe(LINES - 1)

    // This scrolls like the scroll bar.
    await log.evaluate((frame) => {
      frame.scrollTop = 0.6 * (frame.scrollHeight - frame.clientHeight)
    })
    await waitFor(async () => Math.abs(((await linesInView(log))[0] ?? 0) - 0.6 * LINES) < 0.01 * LINES)
    const [before = 0] = await linesInView(log)
    await log.hover()
    await page.mouse.wheel(0, 10 * LINE_HEIGHT)
    await waitFor(async () => (await linesInView(log))[0] === before + 10)
    // The scroll bar is corrected after the wheel stops. The lines must not move.
    await page.waitForTimeout(500)
    expect((await linesInView(log))[0]).toBe(before + 10)

    await log.press('Home')
    await waitFor(async () => (await linesInView(log))[0] === 0)
    await log.press('End')
    await waitFor(async () => (await linesInView(log)).at(-1) === LINES - 1)
  })

  test('opens at the line in its address', async () => {
    const page = await open(`/deployments/${id}?line=700000`)
    await page.locator('.log-line[data-chosen=true]', { hasText: 'line 700000' }).waitFor()
    expect(await linesInView(page.getByRole('log'))).toContain(700_000)
  })
})

test('a growing log does not scroll while the user reads, and is followed again from its end', async () => {
  const id = await run('for i in $(seq 0 4000); do echo "line $i"; sleep 0.02; done')
  const page = await open(`/deployments/${id}?tab=log`)
  const log = page.getByRole('log')
  const lineCount = async () => Number((await page.getByRole('status').first().textContent())?.replaceAll(/\D/g, ''))
  await waitFor(async () => (await lineCount()) > 100)
  await log.press('PageUp')
  await waitFor(async () => !(await page.getByLabel('Follow').isChecked()))
  // Keys scroll smoothly, so wait until the view has not moved for a while.
  let first: string | undefined
  await waitFor(
    async () => {
      const before = first
      ;[first] = await page.locator('.log-number').allTextContents()
      return first === before
    },
    { everyMs: 500 },
  )
  const known = await lineCount()
  await waitFor(async () => (await lineCount()) > known + 50)
  expect((await page.locator('.log-number').allTextContents())[0]).toBe(first)
  await log.press('End')
  await waitFor(async () => await page.getByLabel('Follow').isChecked())
  await waitFor(async () => Number((await page.locator('.log-number').allTextContents()).at(-1)) > known + 100)
  await api.post(`/deployments/${id}/cancel`)
  await deploymentEnd(api, id)
})

test('a grid can be filtered by failures and by name, and used by keyboard', async () => {
  const target_ids = await addLocalTargets(database, 200)
  const action = await createAction(api, { script: 'sleep 600' })
  const sequence_id = await createSequence(api, Array(10).fill(action))
  const { body } = await api.post('/deployments', { sequence_id, target_ids })
  await api.post(`/deployments/${body.deployment_id}/cancel`)
  await deploymentEnd(api, body.deployment_id)
  await database.query(
    `UPDATE steps SET state = 'failed' WHERE deployment_id = $1 AND target_index = 150 AND action_index = 3`,
    [body.deployment_id],
  )

  const page = await open(`/deployments/${body.deployment_id}`)
  const grid = page.getByRole('grid')
  await grid.press('Control+End')
  await grid.getByRole('rowheader', { name: 'rack-00200' }).waitFor()
  await grid.press('Enter')
  await page.getByRole('dialog').getByText('rack-00200').waitFor()
  await page.keyboard.press('Escape')
  await page.getByText(/^failed 1$/i).click()
  await waitFor(async () => (await grid.getByRole('rowheader').allTextContents()).join() === 'rack-00151')
  expect(await grid.getByRole('gridcell', { name: /: failed$/ }).count()).toBe(1)
  await visitor.expectAccessible()
  await page.getByText(/^all 200$/i).click()
  await page.getByLabel('Find a target').fill('00077')
  await waitFor(async () => (await grid.getByRole('rowheader').allTextContents()).join() === 'rack-00077')
})
