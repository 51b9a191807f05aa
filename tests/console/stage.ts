import { randomBytes } from 'node:crypto'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
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

/** Where the tests of a file work: a suite, and an account of it. */
interface Ground {
  suite: Pick<Suite, 'url' | 'databaseUrl' | 'admin'>
  /** The API as the account. */
  api: Api
  account: Login
  createLocalTarget(parts?: Record<string, unknown>): Promise<string>
  /** Ends what is of this file alone. */
  leave?(): Promise<void>
}

/** A new suite. The account is its administrator. */
export async function openOwnSuite(options: SuiteOptions = {}) {
  const suite = await startSuite(options)
  const api = await loginToSuite(suite)
  return {
    suite,
    api,
    account: suite.admin,
    createLocalTarget: (parts?: Record<string, unknown>) => createLocalTarget(api, parts),
    leave: () => suite.stop(),
  }
}

/** One ground and one browser for the tests of a file. After each test its windows are cleared and used again. */
export class Stage<G extends Ground> {
  ground!: G
  /** A folder of this file. It is deleted at the end. */
  folder!: string
  #browser: Browser | undefined
  readonly #visitors: Visitor[] = []
  /** Cleared windows of earlier visitors. */
  readonly #used: Page[] = []

  constructor(prepare: () => Promise<G>) {
    beforeAll(async () => {
      this.folder = fs.mkdtempSync(path.join(os.tmpdir(), 'slipway-console-'))
      ;[this.ground, this.#browser] = await Promise.all([prepare(), launch()])
    })
    afterEach(async () => {
      const visitors = this.#visitors.splice(0)
      const left = await Promise.allSettled(visitors.map((visitor) => visitor.leave()))
      for (const result of left) {
        if (result.status === 'rejected') throw result.reason
        this.#used.push(result.value)
      }
    })
    afterAll(async () => {
      await this.#browser?.close()
      await this.ground?.leave?.()
      fs.rmSync(this.folder, { recursive: true, force: true })
    })
  }

  get api(): Api {
    return this.ground.api
  }

  get account(): G['account'] {
    return this.ground.account
  }

  /** A window of a new visitor. */
  async arrive(size?: ViewportSize): Promise<Visitor> {
    if (this.#browser === undefined) throw new Error('the browser has not started')
    const visitor = await Visitor.arrive(this.#browser, this.ground.suite, { size, used: this.#used.pop() })
    this.#visitors.push(visitor)
    return visitor
  }

  /** A window of the account, at an address with this heading. */
  async login(address: string, heading?: string): Promise<Visitor> {
    const visitor = await this.arrive()
    await visitor.login(this.account, address, heading)
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
    const { suite } = this.ground
    const username = `visitor-${randomBytes(4).toString('hex')}`
    const account = { email: `${username}@example.com`, password: suite.admin.password }
    await this.create('/admin/users', { ...account, username, roles, ...more })
    await makeLoginCheap(suite.databaseUrl, account.email)
    return { ...account, username }
  }

  /** Deploys the script to a new target. Returns the id of the deployment, or of the pending request. */
  async deploy(script: string, more: Record<string, unknown> = {}): Promise<string> {
    const action_id = await createAction(this.api, { script })
    return await this.start({ action_id, target_ids: [await this.ground.createLocalTarget()], ...more })
  }

  /** Returns the id of the deployment, or of the pending request. */
  async start(request: Record<string, unknown>): Promise<string> {
    const { status, body } = await this.api.post('/deployments', request)
    if (status !== 201 && status !== 202) throw new Error(`POST /deployments: ${status} ${JSON.stringify(body)}`)
    return String(body.deployment_id ?? body.pending_request_id)
  }
}
