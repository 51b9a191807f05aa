import type { Schema } from '@slipway/client'
import { sanitize } from './controls.ts'
import { formatNames } from './name-list.ts'
import type { Output } from './output.ts'
import { formatReplacements } from './replacements.ts'
import { formatCount, formatTime, localizeTimes } from './table.ts'

const MAX_NAMES_SHOWN = 20

/** Returns a plan as lines for people: the steps of one target, the targets, then the variables. */
export function formatPlan(preview: Schema<'Preview'>, output: Output): string[] {
  const { plan, warnings, target_summary, source_type, source_name, source_version } = preview
  const [first] = plan.steps
  const ofOneTarget = plan.steps.filter(({ target_id }) => target_id === first?.target_id)
  const targets = [...new Set(plan.steps.map(({ target_name }) => target_name))]
  const where = [plan.tenant_name, plan.environment_name].filter((name) => name !== null).join(', ')
  const title = `${source_type} ${source_name} ${source_version}${where === '' ? '' : ` in ${where}`}`
  const { total, online, stale, offline } = target_summary
  const values = Object.entries(preview.variables)
  return [
    output.paint(sanitize(title), 'bold'),
    '',
    `${formatCount(plan.steps.length, 'step')}: on each target`,
    ...ofOneTarget.map((step, n) => `  ${n + 1}. ${formatStepName(step)}`),
    '',
    `${formatCount(total, 'target')}: ${online} online, ${stale} stale, ${offline} offline`,
    ...targets.slice(0, MAX_NAMES_SHOWN).map((name) => `  ${sanitize(name)}`),
    ...(targets.length > MAX_NAMES_SHOWN ? [`  and ${targets.length - MAX_NAMES_SHOWN} more`] : []),
    ...formatUnchanged(preview),
    ...formatReplaced(preview),
    ...(values.length > 0 ? ['', 'variables'] : []),
    ...values.map(([name, value]) => `  ${name} = ${sanitize(JSON.stringify(value) ?? '')}`),
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

function formatReplaced({ replaces, source_version }: Schema<'Preview'>): string[] {
  if (replaces.length === 0) return []
  return ['', 'replaces', ...formatReplacements(replaces, source_version).map((line) => `  ${line}`)]
}
