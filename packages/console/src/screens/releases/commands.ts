import { curlList, filterCommand, shellQuoted } from '../../components/commands.ts'
import { chosenSource, SOURCE_FILTERS } from './source-filter.tsx'

type Filters = Record<string, string>

const PLACE_OPTIONS = { environment_id: '--environment', tenant_id: '--tenant' }
const WHERE_OPTIONS = { ...PLACE_OPTIONS, kind: '--kind', version: '--source-version', tag: '--tag', state: '--state' }
const STATUS_OPTIONS = {
  ...PLACE_OPTIONS,
  search: '--search',
  state: '--state',
  source: '--source',
  kind: '--kind',
  version: '--source-version',
  target_id: '--target',
  triggered_by: '--triggered-by',
  created_from: '--since',
  created_before: '--until',
}

export const matrixCommand = (filters: Filters): string =>
  filterCommand('slipway matrix', { ...PLACE_OPTIONS, search: '--search' }, filters) ??
  curlList('/releases/matrix', filters)

export function releasesCommand(filters: Filters): string {
  const { source, target_id, ...others } = withNamedSource(filters)
  const where =
    source && !target_id ? filterCommand(`slipway where ${shellQuoted(source)}`, WHERE_OPTIONS, others) : null
  const on = target_id && !source ? filterCommand(`slipway on ${shellQuoted(target_id)}`, {}, others) : null
  return where ?? on ?? curlList('/releases', filters)
}

export const deploymentsCommand = (filters: Filters): string =>
  filterCommand('slipway status', STATUS_OPTIONS, withNamedSource(filters)) ?? curlList('/deployments', filters)

/** The command line takes a source and its kind where the API has a filter for each kind. */
function withNamedSource(filters: Filters): Filters {
  const { kind, id } = chosenSource(filters)
  if (kind === undefined || id === undefined) return filters
  const others = Object.entries(filters).filter(([name]) => !SOURCE_FILTERS.some((one) => one === name))
  return { source: id, kind, ...Object.fromEntries(others) }
}
