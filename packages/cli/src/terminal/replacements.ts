import type { Schema } from '@slipway/client'
import { compareValues, formatDifference } from '../files/difference.ts'
import { sanitize } from './controls.ts'
import { formatNames } from './name-list.ts'
import { formatCount, formatTime } from './table.ts'

type Replacement = Schema<'Replacement'>
type Difference = NonNullable<Replacement['difference']>

/** Returns lines that say what a deployment of this version replaces, for each version before. */
export const formatReplacements = (replaces: readonly Replacement[], version: string): string[] =>
  replaces.flatMap((one) => formatReplacement(one, version))

/** Says how many targets `only_changed` left out. Returns undefined if it left out none. */
export const formatLeftOut = (ids: readonly string[] = []) =>
  ids.length === 0 ? undefined : `${formatCount(ids.length, 'target')} with the same versions and values`

function formatReplacement(replacement: Replacement, version: string): string[] {
  const { target_count, targets, deployment_id, applied_at, applied_by } = replacement
  const names = formatNames(
    targets.map(({ name }) => name),
    target_count,
  )
  const by = applied_by === null ? '' : ` by ${sanitize(applied_by)}`
  return [
    `${replacement.version ?? 'nothing'} -> ${version} on ${formatCount(target_count, 'target')}: ${names}`,
    ...(deployment_id === null ? [] : [`  applied ${formatTime(applied_at)}${by}, deployment ${deployment_id}`]),
    ...(deployment_id === null ? [] : explainDifference(replacement)),
  ]
}

function explainDifference({ difference, target_count, unchanged_count }: Replacement): string[] {
  if (unchanged_count === target_count) return ['  the same versions with the same values']
  const same = unchanged_count > 0 ? [`  the same versions with the same values on ${unchanged_count} of them`] : []
  if (difference === null)
    return [...same, '  not compared: retention has deleted that deployment, or 20 others have more targets']
  const lines = [...difference.versions.map(formatVersions), ...difference.variables.flatMap(formatVariable)]
  // The values hash covers more than this comparison shows.
  const none = ['no difference in versions and variables; secrets and variables of targets may differ']
  return [...same, ...(lines.length > 0 ? lines : none).map((line) => `  ${sanitize(line)}`)]
}

const formatVersions = ({ kind, name, before, after }: Difference['versions'][number]) =>
  `${kind} ${name}: ${before ?? 'none'} -> ${after ?? 'none'}`

function formatVariable({ name, before, after }: Difference['variables'][number]): string[] {
  const fields = compareValues(before, after, name)
  // compareValues finds no difference between a masked value and a plain one.
  const shown = fields.length > 0 ? fields : [{ path: name, from: before, to: after }]
  return shown.flatMap((field) => formatDifference(field, () => false))
}
