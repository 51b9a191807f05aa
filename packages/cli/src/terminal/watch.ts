import type { Schema } from '@slipway/client'
import type { LogStreamMessage, StreamLog } from '@slipway/contracts'
import { sanitize } from './controls.ts'
import { formatBar, type Screen } from './screen.ts'
import { formatSteps, formatTime } from './table.ts'

type Step = Schema<'Step'>

const BAR_WIDTH = 20
const TENTHS = 10
/** How many unfinished lines are shown. */
const PARTIAL_LINES = 4
const BUSY_STATES: ReadonlySet<string> = new Set(['running', 'rolling_back'])

type Counts = Parameters<typeof formatSteps>[0]

interface Row {
  name: string
  total: number
  /** States of the steps that have left `pending`. */
  steps: Map<string, { state: string; action: string }>
}

/**
 * Shows a running deployment. On a terminal it draws unfinished lines, a bar for each target that fits, and one for all targets.
 * Elsewhere it writes plain lines, with one line for each tenth of the progress.
 */
export class DeploymentView {
  readonly #screen: Screen
  readonly #withLog: boolean
  readonly #withTimes: boolean
  readonly #steps: ReadonlyMap<string, Step>
  readonly #rows = new Map<string, Row>()
  /** The latest unfinished line of each step and level. */
  readonly #partialLines = new Map<string, { step_id: string | null; text: string }>()
  readonly #width: number
  #counts: Counts
  #state: string
  #tenth: number

  constructor(
    deployment: Schema<'DeploymentDetail'>,
    screen: Screen,
    { log, timestamps = false }: { log: boolean; timestamps?: boolean },
  ) {
    const steps = deployment.plan?.steps ?? []
    this.#screen = screen
    this.#withLog = log
    this.#withTimes = timestamps
    this.#steps = new Map(steps.map((step) => [step.id, step]))
    for (const { target_id, target_name } of steps) {
      const row = this.#rows.get(target_id) ?? { name: sanitize(target_name), total: 0, steps: new Map() }
      row.total += 1
      this.#rows.set(target_id, row)
    }
    this.#width = steps.reduce((width, { target_name }) => Math.max(width, target_name.length), 0)
    this.#counts = deployment
    this.#state = deployment.state
    this.#tenth = Math.floor(deployment.progress * TENTHS)
  }

  show({ event, data }: LogStreamMessage): void {
    switch (event) {
      case 'log':
        if (this.#withLog) this.#showLog(data.log)
        break
      case 'step_update':
        this.#recordStep(data.step_id, data.state)
        break
      case 'progress':
        this.#showProgress(data.progress, data)
        break
      case 'state_change':
        this.#state = data.new_state
        if (!this.#screen.isTerminal && data.old_state !== '') this.#screen.writeLine(`state: ${data.new_state}`)
        break
      default:
        break
    }
  }

  #showLog(log: StreamLog): void {
    const { step_id, level, target_name, message } = log
    const key = `${step_id} ${level}`
    if (log.metadata?.partial) {
      this.#partialLines.set(key, {
        step_id,
        text: `${sanitize(target_name ?? '').padEnd(this.#width)} | ${sanitize(message)}`,
      })
      this.#draw()
      return
    }
    this.#showLine(log)
    if (this.#partialLines.delete(key)) this.#draw()
  }

  #showLine({ level, target_name, message, timestamp }: StreamLog): void {
    const text = sanitize(message)
    const colour = level === 'error' ? 'red' : level === 'warning' ? 'yellow' : null
    const name = sanitize(target_name ?? '').padEnd(this.#width)
    this.#screen.writeLine(
      `${this.#withTimes ? `${formatTime(timestamp, { digits: 23 })} ` : ''}${this.#screen.paint(`${name} |`, 'dim')} ${colour ? this.#screen.paint(text, colour) : text}`,
    )
  }

  #recordStep(id: string, state: string): void {
    const step = this.#steps.get(id)
    const row = step && this.#rows.get(step.target_id)
    if (!row) return
    row.steps.set(id, { state, action: step.action_name })
    if (!BUSY_STATES.has(state)) {
      for (const [key, { step_id }] of this.#partialLines) if (step_id === id) this.#partialLines.delete(key)
    }
    this.#draw()
  }

  #showProgress(share: number, counts: Counts): void {
    this.#counts = counts
    const tenth = Math.floor(share * TENTHS)
    if (!this.#screen.isTerminal && tenth > this.#tenth) this.#screen.writeLine(`progress: ${formatSteps(counts)}`)
    this.#tenth = tenth
    this.#draw()
  }

  #draw(): void {
    if (!this.#screen.isTerminal) return
    const all = [...this.#rows.values()]
    const room = Math.max(1, Math.min(12, Math.floor(this.#screen.rows / 2) - 2))
    // If not all targets fit, show those with running steps first.
    const shown = all.length <= room ? all : all.toSorted((a, b) => rankRow(a) - rankRow(b)).slice(0, room)
    const partialLines = [...this.#partialLines.values()].slice(-PARTIAL_LINES).map(({ text }) => text)
    const lines = [...partialLines, ...shown.map((row) => formatRow(row, this.#width))]
    if (all.length > shown.length) lines.push(`and ${all.length - shown.length} more targets`)
    const { completed_steps, total_steps } = this.#counts
    const share = total_steps === 0 ? 0 : completed_steps / total_steps
    lines.push(`${formatBar(share, BAR_WIDTH)} ${formatSteps(this.#counts)}, ${this.#state.replace('_', ' ')}`)
    this.#screen.setStatus(lines.map((line) => line.slice(0, this.#screen.columns - 1)))
  }
}

function rankRow({ steps }: Row): number {
  const states = [...steps.values()].map(({ state }) => state)
  if (states.some((state) => BUSY_STATES.has(state))) return 0
  return states.some((state) => state === 'failed' || state === 'rollback_failed') ? 1 : 2
}

function formatRow({ name, total, steps }: Row, width: number): string {
  const all = [...steps.values()]
  const completed = all.filter(({ state }) => state === 'completed').length
  const busy = all.find(({ state }) => BUSY_STATES.has(state))
  const failed = all.find(({ state }) => state === 'failed' || state === 'rollback_failed')
  const doing = busy ? `${busy.state === 'rolling_back' ? 'rolling back ' : ''}${sanitize(busy.action)}` : ''
  const outcome = doing || (failed ? `${sanitize(failed.action)} ${failed.state.replace('_', ' ')}` : '')
  return `${name.padEnd(width)} ${formatBar(total === 0 ? 0 : completed / total, BAR_WIDTH)} ${completed}/${total} ${outcome}`.trimEnd()
}
