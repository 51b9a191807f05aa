// Long lists of the console in a browser: a log of more than a million lines, a growing log, and a grid of many targets.
import { afterAll, beforeAll, expect, jest, test } from '@jest/globals'
import {
  addLocalTargets,
  connectTo,
  createAction,
  createSequence,
  deploymentEnd,
  SLOW,
  waitFor,
} from '@slipway/testing'
import type { Locator } from 'playwright-core'
import { openOwnSuite, Stage } from '../console/stage.ts'

jest.setTimeout(120_000 * SLOW)

const LINES = 1_200_000
const LINE_HEIGHT = 20
/** Lines that the scroll bar covers. */
const PART = 400_000

const stage = new Stage(() => openOwnSuite())
let database: Awaited<ReturnType<typeof connectTo>>

beforeAll(async () => {
  database = await connectTo(stage.ground.suite.databaseUrl)
})
afterAll(() => database?.end())

/** An ended deployment with a log whose lines contain their numbers. */
async function deployWithLongLog(): Promise<string> {
  const id = await stage.deploy('true')
  await deploymentEnd(stage.api, id)
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

test('a log of 1,200,000 lines can be scrolled to its ends, to any place and line by line, and opens at a line', async () => {
  const id = await deployWithLongLog()
  const visitor = await stage.arrive()
  const { page } = visitor
  await visitor.login(stage.account, `/deployments/${id}?tab=log`)
  const log = page.getByRole('log')
  await visitor.sees(`${LINES.toLocaleString('en-US')} lines`)
  expect((await linesInView(log)).at(-1)).toBe(LINES - 1)

  // This scrolls like the scroll bar, which covers the last part of the log. At its begin follows the part before.
  const pull = (share: number) =>
    log.evaluate((frame, to) => {
      frame.scrollTop = to * (frame.scrollHeight - frame.clientHeight)
    }, share)
  const shows = (line: number) =>
    waitFor(async () => Math.abs(((await linesInView(log))[0] ?? 0) - line) < 0.001 * LINES, { what: `line ${line}` })
  await pull(0.6)
  await shows(LINES - 0.4 * PART)
  const [before = 0] = await linesInView(log)
  await log.hover()
  await page.mouse.wheel(0, 10 * LINE_HEIGHT)
  await waitFor(async () => (await linesInView(log))[0] === before + 10)
  await pull(0)
  await waitFor(async () => (await log.evaluate((frame) => frame.scrollTop)) > 0, { what: 'the part before' })
  await shows(LINES - PART)
  await page.mouse.wheel(0, -10_000 * LINE_HEIGHT)
  await shows(LINES - PART - 10_000)

  await log.press('Home')
  await waitFor(async () => (await linesInView(log))[0] === 0)
  await log.press('End')
  await waitFor(async () => (await linesInView(log)).at(-1) === LINES - 1)
  await visitor.open(`/deployments/${id}?line=700001`)
  await page.locator('.log-line[data-chosen=true]', { hasText: 'line 700000' }).waitFor()
  expect(await linesInView(page.getByRole('log'))).toContain(700_000)
})

test('a growing log does not scroll while the user reads, and is followed again from its end', async () => {
  const id = await stage.deploy('for i in $(seq 0 4000); do echo "line $i"; sleep 0.02; done')
  const visitor = await stage.arrive()
  const { page } = visitor
  await visitor.login(stage.account, `/deployments/${id}?tab=log`)
  const log = page.getByRole('log')
  const lineCount = async () => Number((await page.getByRole('status').first().textContent())?.replaceAll(/\D/g, ''))
  const firstNumber = async () => (await page.locator('.log-number').allTextContents())[0]
  await waitFor(async () => (await lineCount()) > 100)
  await log.press('PageUp')
  await waitFor(async () => !(await page.getByLabel('Follow').isChecked()))
  // Keys scroll smoothly, so wait until the view has not moved for a while.
  let first: string | undefined
  await waitFor(
    async () => {
      const before = first
      first = await firstNumber()
      return first === before
    },
    { everyMs: 500 },
  )
  const known = await lineCount()
  await waitFor(async () => (await lineCount()) > known + 50)
  expect(await firstNumber()).toBe(first)
  await log.press('End')
  await waitFor(async () => await page.getByLabel('Follow').isChecked())
  await waitFor(async () => Number((await page.locator('.log-number').allTextContents()).at(-1)) > known + 100)
  await stage.api.post(`/deployments/${id}/cancel`)
  await deploymentEnd(stage.api, id)
})

test('a grid can be filtered by failures and by name, and used by keyboard', async () => {
  const target_ids = await addLocalTargets(database, 200)
  const action = await createAction(stage.api, { script: 'sleep 600' })
  const sequence_id = await createSequence(stage.api, Array(10).fill(action))
  const id = await stage.start({ sequence_id, target_ids })
  await stage.api.post(`/deployments/${id}/cancel`)
  await deploymentEnd(stage.api, id)
  await database.query(
    `UPDATE steps SET state = 'failed' WHERE deployment_id = $1 AND target_index = 150 AND action_index = 3`,
    [id],
  )

  const visitor = await stage.arrive()
  const { page } = visitor
  await visitor.login(stage.account, `/deployments/${id}`)
  const grid = page.getByRole('grid')
  const showsOnly = (name: string) =>
    waitFor(async () => (await grid.getByRole('rowheader').allTextContents()).join() === name)
  await grid.press('Control+End')
  await grid.getByRole('rowheader', { name: 'rack-00200' }).waitFor()
  await grid.press('Enter')
  await page.getByRole('dialog').getByText('rack-00200', { exact: true }).waitFor()
  await page.keyboard.press('Escape')
  await page.getByText(/^failed 1$/i).click()
  await showsOnly('rack-00151')
  expect(await grid.getByRole('gridcell', { name: /: failed$/ }).count()).toBe(1)
  await visitor.expectAccessible()
  await page.getByText(/^all 200$/i).click()
  await page.getByLabel('Find a target').fill('00077')
  await showsOnly('rack-00077')
})
