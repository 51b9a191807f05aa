import { setTimeout as sleep } from 'node:timers/promises'
import { addLocalTargets } from '../tests/support/dist/index.js'
import { framesDuring, heapOf, openBrowser, pull, visit, wheel } from './browser.mjs'
import { beginRun, settle } from './instance.mjs'
import { seed as seedDeployments } from './list.mjs'
import { drive } from './load.mjs'
import { eventsOf } from './plans.mjs'
import { figure, line, plain } from './report.mjs'
import { interleave, median } from './rounds.mjs'

const TARGETS = Number(process.env.TARGETS ?? 10_000)
const LINES = Number(process.env.LINES ?? 1_000_000)
const DEPLOYMENTS = Number(process.env.DEPLOYMENTS ?? 1_000_000)
const SOAK_SECONDS = Number(process.env.SOAK_SECONDS ?? 60)
/** Lines of a chunk, and of a batch that fills the page's memory before the soak. */
const CHUNK = 2_000
/** More than a page keeps. */
const FILL = 120_000
const PACE = 1_000
const EVERY_MS = 100

const GRID = { frame: '.grid', head: '.grid-head', row: '.grid-row:not(.grid-head)' }
const LOG = { frame: '.log', row: '.log-line' }
const BARE = { frame: '#bare', row: '.bare-row' }

/** Goal 22, in a browser of its own window for each screen; floors are pages with nothing but rows of constant text. */
export async function measureConsole({ suite, database, api, instance, sequence, small, rounds, seconds }) {
  const large = await seedLarge({ database, api, instance, sequence })
  const browser = await openBrowser()
  try {
    const script = await firstScreen(browser, suite)
    const opened = performance.now()
    const grid = await visit(browser, suite, `/deployments/${large}`)
    await grid.locator(GRID.row).first().waitFor()
    const opening = performance.now() - opened
    const log = await visit(browser, suite, `/deployments/${large}?line=1`)
    await log.locator(LOG.row).first().waitFor()
    const bareGrid = await bare(browser, { count: TARGETS, cells: 21, height: 26 })
    const bareLog = await bare(browser, { count: 400_000, cells: 3, height: 20 })
    const pages = { grid, log, bareGrid, bareLog }
    const all = await interleave(
      {
        grid: () => inFront(grid, GRID, () => wheel(grid, GRID.frame, seconds)),
        gridPulled: () => inFront(grid, GRID, () => pull(grid, GRID.frame, seconds)),
        bareGrid: () => inFront(bareGrid, BARE, () => wheel(bareGrid, BARE.frame, seconds)),
        log: () => inFront(log, LOG, () => wheel(log, LOG.frame, seconds)),
        logPulled: () => inFront(log, LOG, () => pull(log, LOG.frame, seconds)),
        bareLog: () => inFront(bareLog, BARE, () => wheel(bareLog, BARE.frame, seconds)),
      },
      rounds,
    )
    const heaps = { grid: await heapOf(grid), log: await heapOf(log) }
    for (const page of Object.values(pages)) await page.context().close()
    const running = await measureRunning({ browser, suite, database, api, instance, sequence, seconds })
    const live = await measureLive({ browser, suite, api, instance, small })
    await settle({ instance, database })
    const list = await measurePages({ browser, suite, database, api, rounds, seconds })
    const a = (name, what) => all[name].map((frames) => frames[what])
    const cells = (TARGETS * 20).toLocaleString('en-US')
    const lines = LINES.toLocaleString('en-US')
    return [
      plain(22, 'first screen, KB of compressed JavaScript', [script], '≤ 250'),
      plain(22, `grid of ${cells} cells by the wheel, frames a second`, a('grid', 'perSecond'), '≥ 50'),
      plain(22, 'the same by its scroll bar, frames a second', a('gridPulled', 'perSecond'), '≥ 50'),
      plain(22, `the same while ${PACE} changes a second come, frames a second`, [running.perSecond], '≥ 50'),
      plain(22, `log of ${lines} lines by the wheel, frames a second`, a('log', 'perSecond'), '≥ 50'),
      plain(22, 'the log by its scroll bar, frames a second', a('logPulled', 'perSecond'), '≥ 50'),
      plain(22, `live log at ${PACE} lines a second, frames a second`, live.perSecond, '≥ 50'),
      line(22, `memory of its page after ${SOAK_SECONDS} s, of before`, [live.after], [live.before], '≤ 1.1'),
      figure('bare rows of 21 cells by the wheel, frames a second', a('bareGrid', 'perSecond')),
      figure('bare rows of 3 cells by the wheel, frames a second', a('bareLog', 'perSecond')),
      figure('slowest frame of 100 of the grid, ms', a('grid', 'slowest')),
      figure('slowest frame of 100 of its floor, ms', a('bareGrid', 'slowest')),
      figure('slowest frame of 100 of the grid while changes come, ms', running.slowest),
      figure('slowest frame of 100 of the log, ms', a('log', 'slowest')),
      figure('slowest frame of 100 of its floor of 3 cells, ms', a('bareLog', 'slowest')),
      figure('slowest frame of 100 of the live log, ms', live.slowest),
      figure('frames of the grid in which rows are missing, %', a('grid', 'gaps')),
      figure('frames of the log in which rows are missing, %', a('log', 'gaps')),
      figure('login and opening the grid, ms', opening),
      figure('memory of the page with the grid, MiB', heaps.grid / 2 ** 20),
      figure('memory of the page with the log, MiB', heaps.log / 2 ** 20),
      figure('memory of the page with a live log, MiB', live.after / 2 ** 20),
      ...list,
    ]
  } finally {
    await browser.close()
  }
}

async function inFront(page, where, work) {
  await page.bringToFront()
  return framesDuring(page, where, work)
}

/** Kilobytes of JavaScript that a browser loads to show the first screen. */
async function firstScreen(browser, suite) {
  const page = await visit(browser, suite, '/')
  await page.getByRole('heading', { level: 1, name: 'Now' }).waitFor()
  await page.waitForLoadState('networkidle')
  const bytes = await page.evaluate(() =>
    performance
      .getEntriesByType('resource')
      .filter(({ name }) => name.endsWith('.js'))
      .reduce((sum, { encodedBodySize }) => sum + encodedBodySize, 0),
  )
  await page.context().close()
  return bytes / 1_000
}

/** A page with nothing but rows of constant text, of which it keeps those in view. */
async function bare(browser, { count, cells, height }) {
  const page = await browser.newPage({ viewport: { width: 1280, height: 800 } })
  await page.setContent(`<style>
    #bare { height: 500px; overflow: auto; font: 12px/${height}px monospace }
    .bare-row { display: flex; height: ${height}px }
    .bare-row span { min-width: 28px }
  </style><div id="bare"><div><div></div></div></div>`)
  await page.evaluate(
    ([count, cells, height]) => {
      const frame = document.getElementById('bare')
      const rows = frame.firstChild.firstChild
      frame.firstChild.style.height = `${count * height}px`
      const row = `<div class="bare-row">${'<span>text</span>'.repeat(cells)}</div>`
      rows.innerHTML = row.repeat(Math.ceil(500 / height) + 24)
      const draw = () => {
        const first = Math.max(0, Math.floor(frame.scrollTop / height) - 12)
        rows.style.transform = `translateY(${first * height}px)`
      }
      frame.addEventListener('scroll', draw, { passive: true })
      draw()
    },
    [count, cells, height],
  )
  return page
}

async function beginLarge({ database, api, instance, sequence }) {
  const { rows } = await database.query(`SELECT id FROM targets WHERE name LIKE 'rack-%' LIMIT $1`, [TARGETS])
  const target_ids = rows.length > 0 ? rows.map((row) => row.id) : await addLocalTargets(database, TARGETS)
  return beginRun({ api, instance }, { sequence_id: sequence, target_ids })
}

/** A deployment of as many targets and lines as the goal names, some of its steps failed. */
async function seedLarge({ database, api, instance, sequence }) {
  const { id } = await beginLarge({ database, api, instance, sequence })
  await database.query(
    `UPDATE steps SET started_at = now(), completed_at = now(), exit_code = 0,
       state = (CASE WHEN target_index % 97 = 0 AND action_index = 7 THEN 'failed' ELSE 'completed' END)::step_state
      WHERE deployment_id = $1`,
    [id],
  )
  await settle({ instance, database })
  await database.query(
    `INSERT INTO log_chunks (deployment_id, first_line, line_count, lines)
     SELECT $1, first, $3, (SELECT jsonb_agg(jsonb_build_object(
         't', 1763900000000 + n, 'i', n % $4, 'a', 0, 's', 'o', 'l', 'info',
         'm', 'deploying artifact part ' || n || E' of the release: \\u001b[32mdone\\u001b[0m') ORDER BY n)
       FROM generate_series(first, first + $3 - 1) n)
     FROM generate_series(0::bigint, $2::bigint - $3, $3) first`,
    [id, LINES, CHUNK, TARGETS],
  )
  await database.query('VACUUM ANALYZE steps, log_chunks')
  return id
}

/** The grid while steps of its deployment start and end, by the wheel. */
async function measureRunning({ browser, suite, database, api, instance, sequence, seconds }) {
  const run = { ...(await beginLarge({ database, api, instance, sequence })), next: 0 }
  const page = await visit(browser, suite, `/deployments/${run.id}`)
  await page.locator(GRID.row).first().waitFor()
  const send = async (count) => {
    const steps = Array.from({ length: count }, (_, n) => Math.floor(run.next / 2) + n)
    const events = eventsOf(steps.map((step) => [Math.floor(step / 20), step % 20]))
    await instance.send(run.id, { epoch: run.epoch, first_event: run.next, events })
    run.next += events.length
  }
  let goesOn = true
  const steps = (async () => {
    for (; goesOn; await sleep(EVERY_MS)) await send((PACE * EVERY_MS) / 1_000 / 2)
  })()
  const frames = await framesDuring(page, GRID, () => wheel(page, GRID.frame, seconds))
  goesOn = false
  await steps
  await page.locator('[data-state=completed]').first().waitFor()
  await page.context().close()
  await settle({ instance, database })
  return frames
}

/** A log that is followed at a steady pace by a page that already holds as many lines as it keeps. */
async function measureLive({ browser, suite, api, instance, small }) {
  const run = { ...(await beginRun({ api, instance }, JSON.parse(small))), next: 0 }
  const send = async (count) => {
    const at = new Date().toISOString()
    const events = Array.from({ length: count }, (_, n) => ({
      type: 'log',
      at,
      target: 0,
      action: 0,
      stream: 'stdout',
      level: 'info',
      line: run.next + n,
      text: `line ${run.next + n} `.padEnd(80, 'x'),
    }))
    await instance.send(run.id, { epoch: run.epoch, first_event: run.next, events })
    run.next += count
  }
  const page = await visit(browser, suite, `/deployments/${run.id}?tab=log`)
  await page.locator('.log').waitFor()
  const shows = (number) => page.locator('.log-number', { hasText: new RegExp(`^${number}$`) }).waitFor()
  while (run.next < FILL) {
    await send(CHUNK)
    await shows(run.next - 1)
  }
  const before = await heapOf(page)
  const frames = await framesDuring(page, LOG, async () => {
    const started = performance.now()
    for (let n = 1; performance.now() - started < SOAK_SECONDS * 1_000; n += 1) {
      await send((PACE * EVERY_MS) / 1_000)
      await sleep(Math.max(0, started + n * EVERY_MS - performance.now()))
    }
  })
  await shows(run.next - 1)
  const after = await heapOf(page)
  await page.context().close()
  return { before, after, perSecond: [frames.perSecond], slowest: [frames.slowest] }
}

/** The list of deployments: how long a page takes from its address to its rows, and the API's part of that. */
async function measurePages({ browser, suite, database, api, rounds, seconds }) {
  await database.query('DELETE FROM deployments; DELETE FROM deployment_counts')
  const step = 100_000
  for (let from = 1; from <= DEPLOYMENTS; from += step) {
    await seedDeployments(database, from, Math.min(from + step - 1, DEPLOYMENTS))
  }
  await database.query('VACUUM ANALYZE deployments')
  const last = DEPLOYMENTS / 50
  const places = { first: 1, tenth: Math.ceil(last / 10), middle: last / 2, last }
  const screen = await visit(browser, suite, '/deployments')
  const shown = (page) => async () => {
    const at = performance.now()
    await screen.goto(`${suite.url}/deployments?page=${page}`)
    await screen.locator('tbody tr').first().waitFor()
    return performance.now() - at
  }
  const read = (page) => async () => {
    const url = `${suite.url}/api/v1/deployments?limit=50&page=${page}`
    return median((await drive(url, { token: api.token, clients: 1, seconds, expect: 200 })).times)
  }
  const figures = []
  for (const [name, page] of Object.entries(places)) {
    const { api: answers, screen: screens } = await interleave({ api: read(page), screen: shown(page) }, rounds)
    figures.push(figure(`${name} page of the list at ${DEPLOYMENTS}, the API alone, ms`, answers))
    figures.push(figure(`${name} page of the list at ${DEPLOYMENTS}, on screen after a reload, ms`, screens))
  }
  await screen.context().close()
  return figures
}
