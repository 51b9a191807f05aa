import type { Seen } from '../ledger.ts'
import { SCRIPTS } from '../workload/catalog.ts'
import { type Check, FINAL_STATES, Findings, groupBy } from './evidence.ts'

/** Lines that Slipway itself adds. */
const SYSTEM = 's'

const linesHaveNoGap: Check = ({ tables }) => {
  const findings = new Findings()
  for (const chunk of tables.wrongChunks) {
    findings.add('I19', 'a chunk has as many lines as it says', [chunk.deployment_id], chunk)
  }
  for (const [id, lines] of groupBy(tables.lines, ({ deployment_id }) => deployment_id)) {
    const wrong = lines.findIndex(({ seq }, index) => seq !== index)
    findings.unless(
      wrong === -1,
      'I19',
      'lines are numbered from 0 without gap or repetition',
      [id],
      lines.slice(Math.max(0, wrong - 1), wrong + 2),
    )
  }
  return findings.all
}

/** The log holds what commands wrote: of an attempt that is stored as ended all lines, of any other one its first lines. */
const linesEqualOutput: Check = ({ tables, markers }) => {
  const findings = new Findings()
  const started = new Set(
    markers
      .filter(({ what }) => what === 'start')
      .map(({ deployment, target, step, attempt }) => `${deployment} ${target} ${step} ${attempt}`),
  )
  const output = groupBy(
    tables.lines.filter(({ stream }) => stream !== SYSTEM),
    ({ deployment_id, target_index, action_index }) => `${deployment_id} ${target_index} ${action_index}`,
  )
  for (const step of tables.steps) {
    const script = SCRIPTS[step.step]
    if (script === undefined) continue
    const place = `${step.deployment_id} ${step.target_index} ${step.action_index}`
    const lines = output.get(place) ?? []
    output.delete(place)
    const counts = new Map<number, number>()
    for (const { text, seq } of lines) {
      const [target, name, attempt, number] = text.split(' ')
      const isOwn = target === step.target && name === step.step
      const expected = (counts.get(Number(attempt)) ?? 0) + 1
      const key = `${step.deployment_id} ${step.target} ${step.step} ${attempt}`
      if (!isOwn || Number(number) !== expected || !started.has(key)) {
        findings.add('I19', 'lines are what the command wrote, each once and in order', [step.deployment_id], {
          seq,
          text,
          expected,
          step,
        })
        break
      }
      counts.set(Number(attempt), expected)
    }
    // With an exit code the run has seen the end of the command, and so all of its output.
    const isWhole = step.state === 'completed' || (step.state === 'failed' && step.exit_code !== null)
    if (!isWhole) continue
    const found = counts.get(step.retry_count) ?? 0
    findings.unless(found === script.lines, 'I19', 'no line of a command that ended is lost', [step.deployment_id], {
      step,
      found,
      expected: script.lines,
    })
  }
  for (const [place, lines] of output) {
    const own = lines.filter(({ action_index }) => action_index >= 0)
    findings.unless(own.length === 0, 'I19', 'no line without a step', [place], own.slice(0, 3))
  }
  return findings.all
}

const streamsAreWhole: Check = ({ tables, ledger, watches }) => {
  const findings = new Findings()
  const stored = groupBy(tables.lines, ({ deployment_id }) => deployment_id)
  const states = new Map(tables.deployments.map(({ id, state }) => [id, state]))
  const seenBy = groupBy(ledger.seen, ({ deployment }) => deployment)
  for (const { deployment, hasEnded } of watches) {
    const seen = seenBy.get(deployment) ?? []
    const facts = { seen: seen.length, last: seen.slice(-5) }
    findings.unless(hasEnded, 'I20', 'each stream client sees the final state', [deployment], facts)
    if (!hasEnded) continue
    const lines = stored.get(deployment) ?? []
    const got = seen.filter(({ event }) => event === 'line')
    const wrong = got.findIndex((line, index) => line.seq !== index || line.text !== lines[index]?.text)
    const isWhole = wrong === -1 && got.length === lines.length
    findings.unless(isWhole, 'I20', 'each stream client sees each line once, in order', [deployment], {
      got: got.length,
      stored: lines.length,
      first: wrong === -1 ? null : { got: got[wrong], stored: lines[wrong] },
    })
    checkEnd(findings, deployment, seen, states.get(deployment), lines.length)
    let progress = 0
    for (const { event, text } of seen) {
      if (event !== 'progress') continue
      findings.unless(Number(text) >= progress, 'I20', 'progress never falls', [deployment], { progress, next: text })
      progress = Math.max(progress, Number(text))
    }
  }
  return findings.all
}

function checkEnd(
  findings: Findings,
  deployment: string,
  seen: Seen[],
  state: string | undefined,
  lines: number,
): void {
  const events = seen.filter(({ event }) => event !== 'end')
  const finals = events.filter(({ event, text }) => event === 'state' && FINAL_STATES.has(text))
  const last = events.at(-1)
  const isGood = finals.length === 1 && last === finals[0] && last?.text === state && last?.seq === lines
  findings.unless(
    isGood,
    'I20',
    'each stream ends with one final state_change that tells the number of lines',
    [deployment],
    {
      finals,
      last,
      state,
      lines,
    },
  )
}

export const logs: Check[] = [linesHaveNoGap, linesEqualOutput, streamsAreWhole]
