import type { Change, Deletion } from '../files/change.ts'
import type { ContentFile } from '../files/content-file.ts'
import { formatDifference, MASKED } from '../files/difference.ts'
import type { listTakeOvers } from '../files/take-over.ts'
import { sanitize } from './controls.ts'
import type { Output } from './output.ts'

/** How `apply` shows its changes. */

const SIGNS = { create: ['+', 'green'], publish: ['+', 'green'], change: ['~', 'yellow'] } as const

function formatTitle({ what, entry: { kind, name, value } }: Change): string {
  const version = typeof value['version'] === 'string' && what !== 'change' ? ` ${value['version']}` : ''
  return `${what} ${kind} ${sanitize(name)}${version}`
}

export function formatChange(change: Change, output: Output): string[] {
  const { what, entry, differences } = change
  const [sign, colour] = SIGNS[what]
  const hide = createSecretDetector(change)
  return [
    `${output.paint(`${sign} ${formatTitle(change)}`, colour)}  ${output.paint(entry.document.getPlace(''), 'dim')}`,
    ...differences.flatMap((one) => formatDifference(one, hide).map((line) => `    ${sanitize(line)}`)),
  ]
}

export const formatDeletion = ({ kind, record }: Deletion, output: Output): string =>
  output.paint(`- delete ${kind} ${sanitize(record.name)}`, 'red')

export const formatUpload = ({ file, id, size }: ContentFile, output: Output): string =>
  output.paint(`+ upload ${sanitize(file)} (${size} bytes, ${id.slice(0, 12)}…)`, 'green')

/** Returns a function that detects values of environment variables, also inside a larger value. */
function createSecretDetector({ entry: { document, value } }: Change) {
  const shown = listShownValues(value)
  const secrets = [...document.secrets].filter((secret) => !shown.includes(secret))
  return function hasSecret(value: unknown): boolean {
    if (typeof value === 'object' && value !== null) return Object.entries(value).flat().some(hasSecret)
    return secrets.some((secret) => String(value ?? '').includes(secret))
  }
}

/** Lists the values that are no secret wherever they come from: the version, and the hashes of files. */
function listShownValues({ version, definition }: Change['entry']['value']): unknown[] {
  const { files = [] } = (definition ?? {}) as { files?: { content: unknown }[] }
  return [version, ...files.map(({ content }) => content)]
}

export function summarizeChange(change: Change) {
  const { what, entry, differences } = change
  const hide = createSecretDetector(change)
  const mask = (value: unknown) => (hide(value) ? MASKED : (value ?? null))
  return {
    what,
    kind: entry.kind,
    name: entry.name,
    place: entry.document.getPlace(''),
    differences: differences.map(({ path, from, to, secret }) =>
      secret ? { path, from: MASKED, to: MASKED } : { path, from: mask(from), to: mask(to) },
    ),
  }
}

export const summarizeDeletion = ({ kind, record: { id, name } }: Deletion) => ({
  what: 'delete',
  kind,
  name,
  id,
  place: null,
  differences: [],
})

export const formatTakeOvers = (takeOvers: ReturnType<typeof listTakeOvers>): string[] =>
  takeOvers.map(({ entry: { kind, name, document }, from }) => {
    const owner = from === null ? 'no manager' : `managed by "${sanitize(from)}"`
    return `  ${kind} ${sanitize(name)} (${document.getPlace('')}): ${owner}`
  })
