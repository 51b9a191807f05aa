import type { Schema } from '@slipway/client'
import { sanitize } from './controls.ts'
import { formatNames } from './name-list.ts'
import type { Output } from './output.ts'
import { formatReplacements } from './replacements.ts'
import { formatCount, formatTime, localizeTimes } from './table.ts'

const MAX_NAMES_SHOWN = 20

/** The plan of a pending request, and what it would replace now. */
export function formatPlanOf(request: Schema<'PendingDetail'>, output: Output): string[] {
  const { plan, replaces = [], source_type, source_name, source_version } = request
  const place = [request.tenant_name, request.environment_name].filter((name) => name).join(', ')
  const title = `${source_type} ${source_name} ${source_version}${place === '' ? '' : ` in ${place}`}`
  const steps = plan?.steps ?? []
  const targets = [...new Set(steps.map(({ target_name }) => target_name))]
  return [
    output.paint(sanitize(title), 'bold'),
    ...(request.triggered_by === undefined ? [] : [`asked for by ${sanitize(request.triggered_by)}`]),
    '',
    ...formatSteps(steps),
    '',
    `${formatCount(targets.length, 'target')}: ${formatNames(targets.map(sanitize))}`,
    ...formatReplaced({ replaces, source_version }),
    ...formatVariables(plan?.resolved_variables ?? {}),
  ]
}

/** The steps on each target: those of the first one. */
function formatSteps(steps: Schema<'PlanView'>['steps']): string[] {
  const [first] = steps
  const ofOneTarget = steps.filter(({ target_id }) => target_id === first?.target_id)
  return [
    `${formatCount(steps.length, 'step')}: on each target`,
    ...ofOneTarget.map((step, n) => `  ${n + 1}. ${formatStepName(step)}`),
  ]
}

function formatVariables(variables: Record<string, unknown>): string[] {
  const values = Object.entries(variables)
  if (values.length === 0) return []
  return ['', 'variables', ...values.map(([name, value]) => `  ${name} = ${sanitize(JSON.stringify(value) ?? '')}`)]
}

/** Returns a plan as lines for people: the steps of one target, the targets, then the variables. */
export function formatPlan(preview: Schema<'Preview'>, output: Output): string[] {
  const { plan, warnings, target_summary, source_type, source_name, source_version } = preview
  const targets = [...new Set(plan.steps.map(({ target_name }) => target_name))]
  const where = [plan.tenant_name, plan.environment_name].filter((name) => name !== null).join(', ')
  const title = `${source_type} ${source_name} ${source_version}${where === '' ? '' : ` in ${where}`}`
  const { total, online, stale, offline } = target_summary
  return [
    output.paint(sanitize(title), 'bold'),
    '',
    ...formatSteps(plan.steps),
    '',
    `${formatCount(total, 'target')}: ${online} online, ${stale} stale, ${offline} offline`,
    ...targets.slice(0, MAX_NAMES_SHOWN).map((name) => `  ${sanitize(name)}`),
    ...(targets.length > MAX_NAMES_SHOWN ? [`  and ${targets.length - MAX_NAMES_SHOWN} more`] : []),
    ...formatUnchanged(preview),
    ...formatReplaced(preview),
    ...formatVariables(preview.variables),
    ...formatBlockers(preview).map((line) => output.paint(line, 'yellow')),
    ...(warnings.length > 0 ? [''] : []),
    ...warnings.map((warning) => output.paint(`warning: ${sanitize(localizeTimes(warning))}`, 'yellow')),
    '',
    `to deploy exactly this plan: --expect-plan ${preview.plan_hash}`,
  ]
}

function formatStepName({ sequence_name, action_name, action_version }: Schema<'Step'>): string {
  const name = sequence_name === action_name ? action_name : `${sequence_name} / ${action_name}`
  return sanitize(`${name} ${action_version}`)
}

/** Says what keeps the deployment from starting, and until when. The warnings say it in sentences. */
function formatBlockers({ blockers, earliest_start }: Schema<'Preview'>): string[] {
  if (blockers.length === 0) return []
  return [
    '',
    'blocked by',
    ...blockers.map(({ code, until, can_override }) => {
      const end = until === null ? 'with no known end' : `until ${formatTime(until)}`
      return `  ${code.replaceAll('_', ' ')} ${end}${can_override ? ' (you may override it)' : ''}`
    }),
    `earliest start: ${earliest_start === null ? 'not known' : formatTime(earliest_start)}`,
  ]
}

function formatUnchanged({ plan, unchanged_targets: targets }: Schema<'Preview'>): string[] {
  const [first] = targets
  if (first === undefined) return []
  const isLeftOut = plan.steps.every(({ target_id }) => target_id !== first.id)
  const of = formatCount(targets.length, 'target')
  const what = isLeftOut ? `left out: ${of} with` : `unchanged: ${of} with`
  const hint = isLeftOut ? '' : ' (--only-changed leaves them out)'
  return [`${what} the same versions and values${hint}: ${formatNames(targets.map(({ name }) => name))}`]
}

function formatReplaced({
  replaces,
  source_version,
}: Pick<Schema<'Preview'>, 'replaces' | 'source_version'>): string[] {
  if (replaces.length === 0) return []
  return ['', 'replaces', ...formatReplacements(replaces, source_version).map((line) => `  ${line}`)]
}
