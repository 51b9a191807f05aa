import type { TSchema } from '@sinclair/typebox'
import { Strict } from '../../schema.ts'
import * as catalog from '../catalog.ts'
import { CatalogChecks, CheckCatalog, MAX_CHECK_BYTES, MAX_CHECKED_CHANGES } from '../catalog-check.ts'
import { amongIds, sortBy } from '../common.ts'
import { list, listQueryWith, managedListQuery, op, recordOperations } from './operation.ts'

const sources = <const K extends 'action' | 'sequence' | 'solution'>(
  kind: K,
  create: TSchema,
  createVersion: TSchema,
) => {
  const tag = `${kind}s` as const
  const article = kind === 'action' ? 'an' : 'a'
  const access = <const A extends 'read' | 'update'>(a: A) => `${kind}s:${a}` as const
  const unknownParts =
    kind === 'action'
      ? '400: a file names content that the caller may not read.'
      : 'An unknown id in the definition is 404 with `details.missing`.'
  const unsatisfied = kind === 'action' ? '' : '400: no published version satisfies a requirement. '
  return {
    ...recordOperations({
      kind,
      resource: tag,
      record: catalog.Source,
      listed: catalog.SourceListItem,
      created: catalog.PublishedSource,
      create,
      update: catalog.ChangeSource,
      query: Strict({
        ...managedListQuery.properties,
        ...sortBy('-created_at', ['name', 'created_at', 'updated_at']),
        ...amongIds,
      }),
      summaries: {
        create: `Create ${article} ${kind} with its first version`,
        update: `Change name or description of ${article} ${kind}`,
        delete: `Delete ${article} ${kind} that nothing uses, with all its versions`,
      },
      about: {
        list: `Lists the ${tag} that the caller may see, newest first, each with its latest version.`,
        create: `Creates a record with its first version. Further versions come from POST /${tag}/{id}/versions. 409: the tenant has ${article} ${kind} of this name. ${unknownParts}`,
        get: 'Shows name, description and the list of versions, without their definitions.',
        update: 'Changes the fields that are sent. Published versions never change. 409: the name is taken.',
        delete:
          'Removes the record with all its versions. 409: another source, a freeze or an unfinished deployment uses it. Finished deployments stay, but cannot be redeployed.',
      },
    }),
    createVersion: op({
      method: 'POST',
      path: `/${tag}/{id}/versions`,
      audit: `${kind}.publish` as const,
      summary: 'Publish a version; a published version never changes',
      description: `Adds a version that the record does not have yet (409); it may be lower than others. The record counts as changed. ${unsatisfied} Deployments that run or wait keep the version that they were planned with. ${unknownParts}`,
      tag,
      access: access('update'),
      body: createVersion,
      responses: { 201: catalog.PublishedVersion },
    }),
    listVersions: list(
      {
        path: `/${tag}/{id}/versions`,
        summary: 'List versions',
        description: 'Lists the versions, the last published first, without their definitions.',
        tag,
        access: access('read'),
      },
      catalog.SourceVersionListItem,
      listQueryWith('Only versions that contain this text', '1.1'),
    ),
    getVersion: op({
      method: 'GET',
      path: `/${tag}/{id}/versions/{version}`,
      summary: 'Read a version with its definition',
      description: 'Shows the definition as it was published. Sensitive values are `***`.',
      tag,
      access: access('read'),
      refusals: ['CONFIGURATION_ERROR'],
      responses: { 200: catalog.SourceVersion },
    }),
  }
}

const actions = sources('action', catalog.CreateAction, catalog.CreateActionVersion)
const sequences = sources('sequence', catalog.CreateSequence, catalog.CreateSequenceVersion)
const solutions = sources('solution', catalog.CreateSolution, catalog.CreateSolutionVersion)

export const sourceOperations = {
  checkCatalog: op({
    method: 'POST',
    path: '/catalog/check',
    summary: 'Check changes of the catalog together, without making them',
    description: `Makes the changes in their order in one transaction and rolls it back. Each meets every check of its own operation: permission, validation, references, scripts, quotas, names, uses. Nothing stays: no record, audit record, event or delivery. All refusals are in \`results\`, and the answer is 200. At most ${MAX_CHECKED_CHANGES} changes and ${MAX_CHECK_BYTES / 1024 / 1024} MiB (413), with 400,000 fields and items and 35 levels (400). A check that would hold records for more than 2 s is refused (503): check fewer changes at once. \`slipway apply\` calls it before it changes anything, also with \`--dry-run\`.`,
    tag: 'actions',
    access: 'authenticated',
    body: CheckCatalog,
    maxBodyBytes: MAX_CHECK_BYTES,
    refusals: ['CONFIGURATION_ERROR'],
    responses: { 200: CatalogChecks },
  }),
  listActions: actions.list,
  createAction: actions.create,
  getAction: actions.get,
  updateAction: actions.update,
  deleteAction: actions.delete,
  createActionVersion: actions.createVersion,
  listActionVersions: actions.listVersions,
  getActionVersion: actions.getVersion,
  listSequences: sequences.list,
  createSequence: sequences.create,
  getSequence: sequences.get,
  updateSequence: sequences.update,
  deleteSequence: sequences.delete,
  createSequenceVersion: sequences.createVersion,
  listSequenceVersions: sequences.listVersions,
  getSequenceVersion: sequences.getVersion,
  listSolutions: solutions.list,
  createSolution: solutions.create,
  getSolution: solutions.get,
  updateSolution: solutions.update,
  deleteSolution: solutions.delete,
  createSolutionVersion: solutions.createVersion,
  listSolutionVersions: solutions.listVersions,
  getSolutionVersion: solutions.getVersion,
} as const
