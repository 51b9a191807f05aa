// A browser as people have it, and what it tells of its frames.
import { execFileSync } from 'node:child_process'
import { chromium } from 'playwright-core'
import { quantile } from './rounds.mjs'

const WINDOW = { width: 1280, height: 800 }

export async function openBrowser() {
  const executablePath = execFileSync('sh', ['-c', 'command -v chromium-headless-shell || command -v chromium'], {
    encoding: 'utf8',
  }).trim()
  return chromium.launch({ executablePath, args: ['--no-sandbox'], ignoreDefaultArgs: ['--hide-scrollbars'] })
}

/** A window that is logged in at this address. */
export async function visit(browser, { url, admin }, path) {
  const context = await browser.newContext({ viewport: WINDOW })
  context.setDefaultTimeout(120_000)
  const page = await context.newPage()
  await page.goto(url + path)
  await page.getByLabel('E-mail').fill(admin.email)
  await page.locator('input[type=password]').fill(admin.password)
  await page.getByRole('button', { name: 'Log in' }).click()
  await page.getByRole('navigation', { name: 'Screens' }).waitFor({ state: 'attached' })
  return page
}

/** Counts the frames of the page while `work` goes on: the time of each, and in how many rows did not fill the view. */
export async function framesDuring(page, { frame, head, row }, work) {
  await page.evaluate(
    ([frameSelector, headSelector, rowSelector]) => {
      const view = document.querySelector(frameSelector)
      const frames = { times: [], gaps: 0, on: true }
      const hasGap = () => {
        const place = view.getBoundingClientRect()
        const top = headSelector ? view.querySelector(headSelector).getBoundingClientRect().bottom : place.top
        const bottom = place.top + view.clientHeight
        // A grid also draws the row of its active cell, which may be far from the view.
        const rows = [...view.querySelectorAll(rowSelector)]
          .map((row) => row.getBoundingClientRect())
          .filter((row) => row.bottom > top && row.top < bottom)
        return !(rows[0]?.top <= top + 1 && rows.at(-1)?.bottom >= bottom - 1)
      }
      const next = (at) => {
        frames.times.push(at)
        if (hasGap()) frames.gaps += 1
        if (frames.on) requestAnimationFrame(next)
      }
      globalThis.benchFrames = frames
      requestAnimationFrame(next)
    },
    [frame, head, row],
  )
  await work()
  const { times, gaps } = await page.evaluate(() => {
    globalThis.benchFrames.on = false
    return globalThis.benchFrames
  })
  const each = times.slice(1).map((at, place) => at - times[place])
  return {
    seconds: (times.at(-1) - times[0]) / 1_000,
    perSecond: (1_000 * each.length) / (times.at(-1) - times[0]),
    slowest: quantile(each, 0.99),
    gaps: (100 * gaps) / times.length,
  }
}

/** Turns the wheel over an element, down and up again, `seconds` long and as fast as fingers do. */
export async function wheel(page, selector, seconds) {
  const box = await page.locator(selector).boundingBox()
  const [x, y] = [box.x + box.width / 2, box.y + box.height / 2]
  const session = await page.context().newCDPSession(page)
  const speed = 4_000
  for (const direction of [-1, 1]) {
    await session.send('Input.synthesizeScrollGesture', {
      x,
      y,
      yDistance: direction * speed * (seconds / 2),
      speed,
      gestureSourceType: 'mouse',
      preventFling: true,
    })
  }
  await session.detach()
}

/** Pulls the scroll bar of an element from its top to its bottom and back, `seconds` long. */
export async function pull(page, selector, seconds) {
  await page.locator(selector).evaluate((element) => {
    element.scrollTop = 0
  })
  const box = await page.locator(selector).boundingBox()
  const x = box.x + box.width - 7
  const [top, bottom] = [box.y + 20, box.y + box.height - 30]
  await page.mouse.move(x, top)
  await page.mouse.down()
  const started = performance.now()
  for (let part = 0; part < 1; part = (performance.now() - started) / (1_000 * seconds)) {
    await page.mouse.move(x, top + (bottom - top) * (1 - Math.abs(1 - 2 * part)))
  }
  await page.mouse.up()
}

/** Bytes that the page holds after everything unused was collected. */
export async function heapOf(page) {
  const session = await page.context().newCDPSession(page)
  await session.send('HeapProfiler.collectGarbage')
  const { usedSize } = await session.send('Runtime.getHeapUsage')
  await session.detach()
  return usedSize
}
