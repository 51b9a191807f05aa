import { stripVTControlCharacters } from 'node:util'
import type { DeploymentDetail, LogStreamMessage, Static, StreamLog } from '@slipway/contracts'
import type { StepState } from '@slipway/domain'
import type { SlipwayClient } from '../client.ts'
import { progressText, type Screen } from './screen.ts'

type Detail = Static<typeof DeploymentDetail>

/** Shows a deployment's log and progress until it has ended; resolves to the ended deployment. */
export async function watchDeployment(client: SlipwayClient, id: string, screen: Screen): Promise<Detail> {
  const view = new View(await client.deployments.get(id), screen)
  try {
    for await (const message of client.deployments.followLogs(id)) view.show(message)
  } finally {
    screen.endStatus()
  }
  return await client.deployments.get(id)
}

class View {
  readonly #screen: Screen
  readonly #steps: Map<string, { name: string; target: string }>
  readonly #width: number
  /** Step ids with what each does, in the order in which they began. */
  readonly #running = new Map<string, string>()
  #share: number
  #ended: number
  readonly #total: number

  constructor(deployment: Detail, screen: Screen) {
    const steps = deployment.plan?.steps ?? []
    this.#screen = screen
    this.#steps = new Map(steps.map((step) => [step.id, { name: step.action_name, target: step.target_name }]))
    this.#width = Math.max(0, ...steps.map(({ target_name }) => target_name.length))
    this.#share = deployment.progress
    this.#total = deployment.total_steps
    this.#ended = Math.round(this.#share * this.#total)
  }

  show({ event, data }: LogStreamMessage): void {
    switch (event) {
      case 'log':
        this.#showLine(data.log)
        break
      case 'step_update':
        this.#noteStep(data)
        break
      case 'progress':
        this.#share = data.progress
        this.#ended = Math.round(data.progress * data.total_steps)
        this.#drawProgress()
        break
      case 'ping':
      case 'state_change':
        // The log says it in words, the result at the end.
        break
    }
  }

  #showLine({ level, target_name, message }: StreamLog): void {
    // What a command writes must not move the cursor of whoever reads it.
    const text = stripVTControlCharacters(message).replace(/(?!\t)\p{Cc}/gu, '')
    const painted =
      level === 'error'
        ? this.#screen.paint(text, 'red')
        : level === 'warning'
          ? this.#screen.paint(text, 'yellow')
          : text
    const name = (target_name ?? '').padEnd(this.#width)
    this.#screen.line(`${this.#screen.paint(`${name} |`, 'dim')} ${painted}`)
  }

  #noteStep({ step_id, state }: { step_id: string; state: StepState }): void {
    const step = this.#steps.get(step_id)
    const doing = state === 'rolling_back' ? 'rolling back ' : ''
    if (state === 'running' || state === 'rolling_back') {
      this.#running.set(step_id, `${doing}${step?.name ?? step_id} on ${step?.target ?? 'a target'}`)
    } else {
      this.#running.delete(step_id)
    }
    // Without a terminal every change would be a line of its own: there, only progress is worth one.
    if (this.#screen.isTerminal) this.#drawProgress()
  }

  #drawProgress(): void {
    const running = this.#screen.isTerminal ? [...this.#running.values()] : []
    const text = progressText(this.#share, this.#ended, this.#total, running, this.#screen.isTerminal)
    this.#screen.status(text)
  }
}
