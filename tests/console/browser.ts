import { execFileSync } from 'node:child_process'
import { AxeBuilder } from '@axe-core/playwright'
import { expect } from '@jest/globals'
import { type Suite, WAIT_MS, waitForValue } from '@slipway/testing'
import {
  type Browser,
  type BrowserContext,
  chromium,
  type Locator,
  type Page,
  type ViewportSize,
} from 'playwright-core'

/** Starts Debian's browser, which `make test` installs. All windows share one process, because each start takes time. */
export function launch(): Promise<Browser> {
  const executablePath = execFileSync('sh', ['-c', 'command -v chromium-headless-shell || command -v chromium'], {
    encoding: 'utf8',
  }).trim()
  const args = ['--no-sandbox', '--renderer-process-limit=1', '--disable-site-isolation-trials', '--in-process-gpu']
  return chromium.launch({ executablePath, args })
}

export const PHONE = { width: 390, height: 800 }

/** A script for the browser: the elements that make the page wider than its window. */
const TOO_WIDE = `(() => {
  const { scrollWidth, clientWidth } = document.documentElement
  if (scrollWidth <= clientWidth) return []
  const ends = (element) => Math.round(element.getBoundingClientRect().right + window.scrollX)
  const clips = (element) =>
    element !== null && element !== document.body && (getComputedStyle(element).overflowX !== 'visible' || clips(element.parentElement))
  const wide = [...document.body.querySelectorAll('*')].filter(
    (element) => ends(element) > clientWidth && !clips(element.parentElement),
  )
  return wide.slice(-5).map((element) => element.outerHTML.slice(0, 200))
})()`

/** The screens in the menu of an administrator. */
export const SCREENS = [
  'Now',
  'Deployments',
  'Deploy',
  'Queue',
  'Targets',
  'Matrix',
  'Sources',
  'Freezes',
  'Environments',
  'Tenants',
  'Instances',
  'Webhooks',
  'Audit',
  'Users',
  'Roles',
  'Account',
]

export interface Login {
  email: string
  password: string
}

/** Deletes the cookies and the storage of a window. Its caches stay, so that the next page loads faster. */
async function forget(page: Page): Promise<void> {
  const context = page.context()
  page.removeAllListeners()
  await Promise.all(context.pages().map((other) => other === page || other.close()))
  await page.emulateMedia({ colorScheme: null })
  await context.setOffline(false)
  await page.unrouteAll()
  // A blank page has no storage and refuses access to it.
  if (page.url() !== 'about:blank') await page.evaluate('localStorage.clear(); sessionStorage.clear()')
  // A pending answer may set a cookie, so leave the page before the cookies are deleted.
  await page.goto('about:blank')
  await context.clearCookies()
}

/** A browser window with its own cookies. It records all errors. */
export class Visitor {
  readonly context: BrowserContext
  readonly page: Page
  /** Errors of scripts, and violations of the content security policy. */
  readonly errors: string[] = []
  /** The origins to which the page has sent requests. */
  readonly origins = new Set<string>()
  readonly #url: string

  private constructor(context: BrowserContext, page: Page, url: string) {
    this.context = context
    this.page = page
    this.#url = url
    this.watch(page)
  }

  static async arrive(
    browser: Browser,
    suite: Pick<Suite, 'url'>,
    { size = { width: 1280, height: 800 }, used }: { size?: ViewportSize | undefined; used?: Page | undefined } = {},
  ): Promise<Visitor> {
    if (used !== undefined) {
      await used.context().clearCookies()
      await used.setViewportSize(size)
      return new Visitor(used.context(), used, suite.url)
    }
    // Each frame of an animation costs CPU time.
    const context = await browser.newContext({ viewport: size, reducedMotion: 'reduce' })
    context.setDefaultTimeout(WAIT_MS)
    return new Visitor(context, await context.newPage(), suite.url)
  }

  watch(page: Page): void {
    page.on('pageerror', (error) => this.errors.push(error.message))
    page.on('console', (message) => {
      if (/Content.Security.Policy|Refused to/i.test(message.text())) this.errors.push(message.text())
    })
    page.on('request', (request) => this.origins.add(new URL(request.url()).origin))
  }

  async open(path: string): Promise<void> {
    await this.page.goto(this.#url + path)
  }

  /** Another tab of the same browser. */
  async openTab(path: string): Promise<Page> {
    const tab = await this.context.newPage()
    this.watch(tab)
    await tab.goto(this.#url + path)
    return tab
  }

  /** Opens the address, logs in there, and waits for its heading. */
  async login(login: Login, path = '/', heading?: string): Promise<void> {
    await this.open(path)
    await this.giveCredentials(login)
    await this.page.getByRole('navigation', { name: 'Screens' }).waitFor({ state: 'attached' })
    if (heading !== undefined) await this.heading(heading)
  }

  async giveCredentials({ email, password }: Login): Promise<void> {
    await this.page.getByLabel('E-mail').fill(email)
    await this.page.locator('input[type=password]').fill(password)
    await this.page.getByRole('button', { name: 'Log in' }).click()
  }

  /** Opens a screen with the menu. */
  async goTo(screen: string): Promise<void> {
    await this.page.getByRole('navigation', { name: 'Screens' }).getByText(screen, { exact: true }).click()
    await this.heading(screen)
  }

  button(name: string): Locator {
    return this.page.getByRole('button', { name, exact: true })
  }

  /** Chooses an option of a list and closes the list. */
  async choose(label: string, option: string | RegExp): Promise<void> {
    const byRole = (role: 'textbox' | 'combobox') => this.page.getByRole(role, { name: label, exact: true })
    await byRole('textbox').or(byRole('combobox')).click()
    await this.page.getByRole('option', { name: option, exact: true }).click()
    await this.page.keyboard.press('Tab')
  }

  /** Clicks a button that asks for a confirmation, and confirms. */
  async confirm(name: string, opener = name): Promise<void> {
    await this.button(opener).click()
    await this.page.getByRole('dialog').getByRole('button', { name, exact: true }).click()
    await this.page.getByRole('dialog').waitFor({ state: 'detached' })
  }

  async heading(name: string): Promise<void> {
    await this.page.getByRole('heading', { level: 1, name, exact: true }).waitFor()
  }

  async sees(text: string | RegExp): Promise<void> {
    await this.page.getByText(text).first().waitFor()
  }

  /** Waits until nothing on the page is loading. */
  async settled(): Promise<void> {
    await this.page.locator('[aria-busy=true]').first().waitFor({ state: 'detached' })
  }

  async expectNoRefusal(): Promise<void> {
    expect(await this.page.getByText(/^(You may not do this|This did not work)$/).allTextContents()).toEqual([])
  }

  /** Expects that the page fits into the window, also on a phone: wide content must scroll in its own frame. */
  async expectToFit(): Promise<void> {
    const usual = this.page.viewportSize() ?? PHONE
    for (const size of [usual, PHONE]) {
      await this.page.setViewportSize(size)
      // Wait, because the menu moves out of the window.
      const what = `${this.page.url()} to fit ${size.width} pixels`
      await waitForValue(
        what,
        () => this.page.evaluate<string[]>(TOO_WIDE),
        (wide) => wide.length === 0,
      )
    }
    await this.page.setViewportSize(usual)
  }

  /** Expects that the page is accessible by the rules of WCAG 2, levels A and AA. */
  async expectAccessible(): Promise<void> {
    await this.#expectNoViolation(this.#axe().withTags(['wcag2a', 'wcag2aa', 'wcag21aa']))
  }

  /** Does `expectAccessible` in both themes. The second theme needs only the rule for contrast: themes differ in colours. */
  async expectAccessibleInBothThemes(): Promise<void> {
    await this.#chooseTheme('light')
    await this.expectAccessible()
    await this.#chooseTheme('dark')
    await this.#expectNoViolation(this.#axe().withRules(['color-contrast']))
  }

  async #chooseTheme(colorScheme: 'light' | 'dark'): Promise<void> {
    await this.page.emulateMedia({ colorScheme })
    await this.page.locator(`html[data-mantine-color-scheme=${colorScheme}]`).waitFor({ state: 'attached' })
  }

  #axe(): AxeBuilder {
    // Without frames, the legacy mode gives the same result. The other one opens a page for each analysis.
    return new AxeBuilder({ page: this.page }).setLegacyMode()
  }

  async #expectNoViolation(rules: AxeBuilder): Promise<void> {
    const { violations } = await rules.analyze()
    const told = violations.flatMap(({ id, nodes }) =>
      nodes.map(({ html, failureSummary }) => ({ id, html, failureSummary })),
    )
    expect(told).toEqual([])
  }

  /** Expects no errors and no calls to other origins, and returns the window for another visitor. */
  async leave(): Promise<Page> {
    try {
      await forget(this.page)
      expect(this.errors).toEqual([])
      expect([...this.origins]).toEqual([this.#url])
    } catch (error) {
      await this.context.close()
      throw error
    }
    return this.page
  }
}
