import { Overview, OverviewCounts } from '../overview.ts'
import { op } from './operation.ts'

export const overviewOperations = {
  getOverview: op({
    method: 'GET',
    path: '/overview',
    summary: 'Read what happens now: what runs, waits, failed and is frozen',
    description:
      'Answers everything that an engineer on call looks at first, in one call. It shows what the caller may see. Its cost grows neither with the stored deployments nor, beyond 500 requests, with the queue.',
    tag: 'overview',
    access: 'deployments:read',
    responses: { 200: Overview },
  }),
  getOverviewCounts: op({
    method: 'GET',
    path: '/overview/counts',
    summary: 'Read the counts of the overview alone',
    description: 'Answers the counts of getOverview. It is cheap: a menu may ask every few seconds.',
    tag: 'overview',
    access: 'deployments:read',
    responses: { 200: OverviewCounts },
  }),
} as const
