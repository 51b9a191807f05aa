import { Type } from '@sinclair/typebox'
import { SHOWN_RELEASE_STATES } from '@slipway/domain'
import { Id, literals, Strict, Version } from '../../schema.ts'
import { Page, TagFilter } from '../common.ts'
import { ofSource, SourceType } from '../deployments.ts'
import * as checks from '../release-checks.ts'
import * as releases from '../releases.ts'
import { listQuery, op } from './operation.ts'

const scope = {
  tenant_id: Type.Optional(Id('tenant')),
  environment_id: Type.Optional(Id('environment')),
  source_type: Type.Optional(SourceType),
}

export const releaseOperations = {
  listReleases: op({
    method: 'GET',
    path: '/releases',
    summary: 'List what is in force on each target, by name of source and target',
    tag: 'releases',
    access: 'deployments:read',
    query: Strict({
      ...listQuery.properties,
      ...scope,
      ...ofSource,
      version: Type.Optional(Version),
      target_id: Type.Optional(Id('target')),
      tag: Type.Optional(TagFilter),
      state: Type.Optional(literals(SHOWN_RELEASE_STATES)),
    }),
    responses: { 200: Page(releases.Installed) },
  }),
  getReleaseMatrix: op({
    method: 'GET',
    path: '/releases/matrix',
    summary: 'List sources with the versions in force in each environment',
    tag: 'releases',
    access: 'deployments:read',
    query: Strict({ ...listQuery.properties, ...scope }),
    responses: { 200: Page(releases.MatrixRow) },
  }),
  checkReleases: op({
    method: 'POST',
    path: '/releases/check',
    summary: 'Check now whether targets are as their deployments left them',
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
    tag: 'releases',
    access: 'deployments:read',
    query: Strict({
      ...listQuery.properties,
      ...ofSource,
      state: Type.Optional(literals(SHOWN_RELEASE_STATES)),
      current: Type.Optional(literals(['true', 'false'])),
    }),
    responses: { 200: Page(releases.Release) },
  }),
  getDeploymentChanges: op({
    method: 'GET',
    path: '/deployments/{id}/changes',
    summary: 'Compare a deployment with what was on its targets before',
    tag: 'releases',
    access: 'deployments:read',
    responses: { 200: releases.Replacements },
  }),
} as const
