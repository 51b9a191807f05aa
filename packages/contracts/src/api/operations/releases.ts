import { Type } from '@sinclair/typebox'
import { SHOWN_RELEASE_STATES, Uuid } from '@slipway/domain'
import { describe, Id, literals, Strict, Version } from '../../schema.ts'
import { STORY } from '../../story.ts'
import { Page, TagFilter } from '../common.ts'
import { ofSource, SourceType } from '../deployments.ts'
import { Promotion } from '../environment-rules.ts'
import * as checks from '../release-checks.ts'
import * as releases from '../releases.ts'
import { listQueryWith, op } from './operation.ts'

const searchIn = (fields: string) =>
  listQueryWith(`Only entries with this text in ${fields}, in upper or lower case`).properties

const scope = {
  tenant_id: Type.Optional(Id('tenant', 'Only releases for this tenant')),
  environment_id: Type.Optional(Id('environment', 'Only releases in this environment')),
  source_type: Type.Optional(describe(SourceType, 'Only releases of this kind of source', 'solution')),
}

export const releaseOperations = {
  listReleases: op({
    method: 'GET',
    path: '/releases',
    summary: 'List what is in force on each target, by name of source and target',
    description:
      'Lists for each source and target the version that was applied last and not rolled back, by name of source and target. `last_attempt` is set if a later attempt was not applied. Filters are combined with "and".',
    tag: 'releases',
    access: 'deployments:read',
    query: Strict({
      ...searchIn('the name of the source or target'),
      ...scope,
      ...ofSource,
      version: Type.Optional(describe(Version, 'Only where this version is in force', '1.1.0')),
      target_id: Type.Optional(Id('target', 'Only releases on this target')),
      tag: Type.Optional(TagFilter),
      state: Type.Optional(describe(literals(SHOWN_RELEASE_STATES), 'Only releases in this state', 'drifted')),
    }),
    responses: { 200: Page(releases.Installed) },
  }),
  getReleaseMatrix: op({
    method: 'GET',
    path: '/releases/matrix',
    summary: 'List sources with the versions in force in each environment',
    description:
      'Lists each source, by name, with a cell for each environment and tenant: the versions in force with their number of targets.',
    tag: 'releases',
    access: 'deployments:read',
    query: Strict({ ...searchIn('the name of the source'), ...scope }),
    responses: { 200: Page(releases.MatrixRow) },
  }),
  getPromotion: op({
    method: 'GET',
    path: '/releases/promotion',
    summary: 'Read which version may go from one environment to another',
    description:
      'Shows the version of a source that is in force in the first environment, and whether the promotion rule of the second one lets it pass now. Deploy it with `versions_of`, so that the second environment gets the very versions of the first.',
    tag: 'releases',
    access: 'deployments:read',
    query: Strict({
      source_type: SourceType,
      source_id: describe(Type.String({ maxLength: 64 }), 'The source, by UUID or SqId', STORY.solution),
      from_environment_id: Id('environment', 'The environment that has the version'),
      to_environment_id: Id('environment', 'The environment that is to get it'),
    }),
    responses: { 200: Promotion },
  }),
  getRollback: op({
    method: 'GET',
    path: '/releases/rollback',
    summary: 'Read which release a rollback would bring back on each target',
    description:
      'Finds the targets on which a source is, and for each the release before the present one. After a failed attempt this is the release in force. Releases are a stack: a rollback takes the top off, so a second one goes back further. Filters are combined with "and". Give exactly one source. More than 5,000 targets: 400.',
    tag: 'releases',
    access: 'deployments:read',
    query: Strict({
      ...ofSource,
      tenant_id: scope.tenant_id,
      environment_id: scope.environment_id,
      tag: Type.Optional(TagFilter),
      target_ids: Type.Optional(
        describe(
          Type.String({ format: 'id-list' }),
          'Only these targets, by UUID, at most 100, separated by commas',
          STORY.target,
        ),
      ),
      deployment_id: Type.Optional(
        describe(Uuid, 'Only targets on which this deployment is in force or was tried last', STORY.deployment),
      ),
    }),
    responses: { 200: releases.Rollback },
  }),
  checkReleases: op({
    method: 'POST',
    path: '/releases/check',
    summary: 'Check now whether targets are as their deployments left them',
    description:
      'Makes the checks of the actions that are in force due at once, of a source, of targets, or of a source on targets. 202: they run later, in free slots, and change nothing on the targets. A check is done when `check.checked_at` of the release (listReleases) is later than `requested_at`.',
    tag: 'releases',
    access: 'deployments:create',
    audit: 'release.check',
    body: checks.CheckReleases,
    responses: { 202: checks.CheckRequested },
  }),
  listTargetReleases: op({
    method: 'GET',
    path: '/targets/{id}/releases',
    summary: 'List what was deployed to the target, newest first, with what became of it there',
    description:
      'Lists the history of one target, newest first. `current=true` leaves what is in force. Users of a tenant see the deployments of the tenant only.',
    tag: 'releases',
    access: 'deployments:read',
    query: Strict({
      ...searchIn('the name of the source'),
      ...ofSource,
      state: Type.Optional(describe(literals(SHOWN_RELEASE_STATES), 'Only releases in this state', 'drifted')),
      current: Type.Optional(describe(literals(['true', 'false']), 'Whether to leave only what is in force', 'true')),
    }),
    responses: { 200: Page(releases.Release) },
  }),
  getDeploymentChanges: op({
    method: 'GET',
    path: '/deployments/{id}/changes',
    summary: 'Compare a deployment with what was on its targets before',
    description:
      'Groups the targets of the deployment by what was in force there before, and shows the difference of versions and variables for each group.',
    tag: 'releases',
    access: 'deployments:read',
    responses: { 200: releases.Replacements },
  }),
} as const
