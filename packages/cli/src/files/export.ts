import { mkdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import type { SlipwayClient } from '@slipway/client'
import { Document, isScalar, visit } from 'yaml'
import { isSource } from './desired.ts'
import { type FileKind, KINDS } from './kinds.ts'
import { Catalog, type ServerRecord } from './server.ts'

type Body = Record<string, unknown>

/** Returns the records of a server by kind, as documents that `apply` reads. A source has its latest version. */
export async function exportDocuments(
  client: SlipwayClient,
  kinds: ReadonlySet<FileKind>,
): Promise<Map<FileKind, Body[]>> {
  const catalog = new Catalog(client)
  const names = new Map<string, string>()
  const documents = new Map<FileKind, Body[]>()
  for (const kind of KINDS) {
    const records: ServerRecord[] = []
    for await (const record of catalog.listRecords(kind)) {
      names.set(record.id, record.name)
      records.push(record)
    }
    if (!kinds.has(kind)) continue
    const all: Body[] = []
    for (const record of records.sort((a, b) => a.name.localeCompare(b.name))) {
      all.push(await buildDocument(catalog, kind, record, names))
    }
    if (all.length > 0) documents.set(kind, all)
  }
  return documents
}

export function formatDocuments(documents: readonly Body[]): string {
  return documents.map(formatDocument).join('---\n')
}

function formatDocument(value: Body): string {
  const document = new Document(value)
  visit(document, {
    // Without quotes, `<<` would be read as a merge of fields.
    Pair(_, { key }) {
      if (isScalar(key) && key.value === '<<') key.type = 'QUOTE_DOUBLE'
    },
    // In a block, a text that begins with blank lines would lose their spaces.
    Scalar(_, node) {
      if (typeof node.value === 'string' && /^\s+\n/.test(node.value)) node.type = 'QUOTE_DOUBLE'
    },
  })
  return document.toString({ lineWidth: 0 })
}

/** Writes one file for each kind. Returns the paths. */
export function writeDocuments(folder: string, documents: ReadonlyMap<FileKind, Body[]>): string[] {
  mkdirSync(folder, { recursive: true })
  return [...documents].map(([kind, all]) => {
    const file = path.join(folder, `${kind}s.yaml`)
    writeFileSync(file, formatDocuments(all))
    return file
  })
}

async function buildDocument(
  catalog: Catalog,
  kind: FileKind,
  record: ServerRecord,
  names: ReadonlyMap<string, string>,
): Promise<Body> {
  const nameReference = (field: string) => {
    const id = record[`${field}_id`]
    return typeof id === 'string' ? { [field]: names.get(id) ?? id } : {}
  }
  const pick = (...fields: string[]): Body =>
    Object.fromEntries(fields.filter((field) => !isEmpty(record[field])).map((field) => [field, record[field]]))
  const head = { kind, name: record.name, ...pick('description'), ...nameReference('tenant') }
  switch (kind) {
    case 'tenant':
      return { ...head, ...pick('slug', 'variables', 'sensitive_variables', 'instance_selector') }
    case 'environment':
      return {
        ...head,
        ...pick('variables', 'sensitive_variables', 'instance_selector', 'concurrency', 'position'),
        ...exportRules(record['rules'], names),
      }
    case 'target':
      return {
        ...head,
        ...nameReference('environment'),
        ...pick('tags', 'connection', 'variables', 'sensitive_variables', 'instance_selector', 'concurrency'),
        ...(record['enabled'] === false ? { enabled: false } : {}),
      }
    case 'freeze':
      return {
        ...head,
        ...nameReference('environment'),
        ...nameReference('solution'),
        ...pick('start_time', 'end_time', 'recurrence', 'time_zone'),
      }
    default:
      return { ...head, ...(isSource(kind) ? await readLatestVersion(catalog, kind, record, names) : {}) }
  }
}

/** Without the fields that have their defaults. */
function exportRules(rules: unknown, names: ReadonlyMap<string, string>): Body {
  if (rules === null || rules === undefined) return {}
  const { approvals, windows, promotion } = rules as { approvals?: Body; windows?: Body[]; promotion?: Body }
  const from = String(promotion?.['from_environment_id'])
  return {
    rules: {
      ...(approvals && { approvals }),
      ...(windows && {
        windows: windows.map(({ recurrence, time_zone, ...times }) => ({
          ...times,
          ...(recurrence === null ? {} : { recurrence }),
          ...(time_zone === null ? {} : { time_zone }),
        })),
      }),
      ...(promotion && { promotion: { from_environment: names.get(from) ?? from, hours: promotion['hours'] } }),
    },
  }
}

async function readLatestVersion(
  catalog: Catalog,
  kind: 'action' | 'sequence' | 'solution',
  record: ServerRecord,
  names: ReadonlyMap<string, string>,
): Promise<Body> {
  const version = record['latest_version'] ?? (await catalog.readVersions(kind, record.id))[0]
  const { variables, ...definition } = (await catalog.readDefinition(kind, record.id, String(version))) ?? {}
  const nameEntries = (list: unknown, field: string) =>
    (list as Body[]).map(({ [`${field}_id`]: id, ...rest }) => ({ [field]: names.get(String(id)) ?? id, ...rest }))
  return {
    version,
    definition: {
      ...definition,
      ...(kind === 'sequence' ? { actions: nameEntries(definition['actions'], 'action') } : {}),
      ...(kind === 'solution' ? { sequences: nameEntries(definition['sequences'], 'sequence') } : {}),
      ...(isEmpty(variables) ? {} : { variables: (variables as Body[]).map(({ id: _, ...variable }) => variable) }),
    },
  }
}

const isEmpty = (value: unknown) =>
  value === null || value === undefined || (typeof value === 'object' && Object.keys(value).length === 0)
