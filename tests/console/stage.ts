import { randomBytes } from 'node:crypto'
import { afterAll, afterEach, beforeAll } from '@jest/globals'
import {
  type Api,
  createAction,
  createLocalTarget,
  loginToSuite,
  makeLoginCheap,
  type Suite,
  type SuiteOptions,
  startSuite,
} from '@slipway/testing'
import type { Browser, Page, ViewportSize } from 'playwright-core'
import { type Login, launch, Visitor } from './browser.ts'

/** One suite and one browser for the tests of a file. After each test its windows are cleared and used again. */
export class Stage {
  suite!: Suite
  /** The API as the administrator. */
  api!: Api
  #browser: Browser | undefined
  readonly #visitors: Visitor[] = []
  /** Cleared windows of earlier visitors. */
  readonly #used: Page[] = []

  constructor(options: SuiteOptions = {}) {
    beforeAll(async () => {
      this.suite = await startSuite(options)
      this.api = await loginToSuite(this.suite)
      this.#browser = await launch()
    })
    afterEach(async () => {
      const visitors = this.#visitors.splice(0)
      const left = await Promise.allSettled(visitors.map((visitor) => visitor.leave()))
      await this.suite.restore()
      for (const result of left) {
        if (result.status === 'rejected') throw result.reason
        this.#used.push(result.value)
      }
    })
    afterAll(async () => {
      await this.#browser?.close()
      await this.suite?.stop()
    })
  }

  /** A window of a new visitor. */
  async arrive(size?: ViewportSize): Promise<Visitor> {
    if (this.#browser === undefined) throw new Error('the browser has not started')
    const visitor = await Visitor.arrive(this.#browser, this.suite, { size, used: this.#used.pop() })
    this.#visitors.push(visitor)
    return visitor
  }

  /** Creates a record with the API and returns it. */
  // biome-ignore lint/suspicious/noExplicitAny: as in Api
  async create(path: string, body: Record<string, unknown>): Promise<any> {
    const answer = await this.api.post(path, body)
    if (answer.status !== 201) throw new Error(`POST ${path}: ${answer.status} ${JSON.stringify(answer.body)}`)
    return answer.body
  }

  /** Creates a user who can log in. */
  async createAccount(roles: string[], more: Record<string, unknown> = {}): Promise<Login & { username: string }> {
    const username = `visitor-${randomBytes(4).toString('hex')}`
    const account = { email: `${username}@example.com`, password: this.suite.admin.password }
    await this.create('/admin/users', { ...account, username, roles, ...more })
    await makeLoginCheap(this.suite.databaseUrl, account.email)
    return { ...account, username }
  }

  /** Deploys the script to a new target. Returns the id of the deployment, or of the pending request. */
  async deploy(script: string, more: Record<string, unknown> = {}): Promise<string> {
    const action_id = await createAction(this.api, { script })
    const target = await createLocalTarget(this.api)
    const { body } = await this.api.post('/deployments', { action_id, target_ids: [target], ...more })
    return String(body.deployment_id ?? body.pending_request_id)
  }
}
