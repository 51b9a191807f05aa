import type { Schema } from '@slipway/client'
import { harmless } from './colour.ts'
import type { Output } from './output.ts'

const NAMES_SHOWN = 20

/** A plan as people read it: what is done once, then where, then with which values. */
export function planLines(preview: Schema<'Preview'>, output: Output): string[] {
  const { plan, warnings, target_summary, source_type, source_name, source_version } = preview
  const [first] = plan.steps
  const ofOneTarget = plan.steps.filter(({ target_id }) => target_id === first?.target_id)
  const targets = [...new Set(plan.steps.map(({ target_name }) => target_name))]
  const where = [plan.tenant_name, plan.environment_name].filter((name) => name !== null).join(', ')
  const title = `${source_type} ${source_name} ${source_version}${where === '' ? '' : ` in ${where}`}`
  const { total, online, stale, offline } = target_summary
  const values = Object.entries(preview.variables)
  return [
    output.paint(harmless(title), 'bold'),
    '',
    `${plan.steps.length} steps: on each target`,
    ...ofOneTarget.map((step, n) => `  ${n + 1}. ${stepName(step)}`),
    '',
    `${total} targets: ${online} online, ${stale} stale, ${offline} offline`,
    ...targets.slice(0, NAMES_SHOWN).map((name) => `  ${harmless(name)}`),
    ...(targets.length > NAMES_SHOWN ? [`  and ${targets.length - NAMES_SHOWN} more`] : []),
    ...(values.length > 0 ? ['', 'variables'] : []),
    ...values.map(([name, value]) => `  ${name} = ${harmless(JSON.stringify(value) ?? '')}`),
    ...(warnings.length > 0 ? [''] : []),
    ...warnings.map((warning) => output.paint(`warning: ${harmless(warning)}`, 'yellow')),
    '',
    `to deploy exactly this plan: --expect-plan ${preview.plan_hash}`,
  ]
}

function stepName({ sequence_name, action_name }: Schema<'Step'>): string {
  return harmless(sequence_name === action_name ? action_name : `${sequence_name} / ${action_name}`)
}
