import type { Schema } from '@slipway/client'

type NewTrust = Schema<'CreateTrust'>

export const PLATFORMS = [
  { value: 'github', label: 'GitHub Actions' },
  { value: 'gitlab', label: 'GitLab CI' },
  { value: 'jenkins', label: 'Jenkins' },
  { value: 'other', label: 'Another' },
] as const
export type Platform = (typeof PLATFORMS)[number]['value']

/** A claim; `row` identifies the row while its texts change. */
export interface Claim {
  row: number
  name: string
  value: string
}

/** A trust as the form has it. The fields that a platform does not use keep their texts. */
export interface TrustDraft {
  platform: Platform
  audience: string
  /** GitHub: owner and name of the repository. */
  repository: string
  ownerId: string
  /** GitLab: the server, and the number of the project. */
  gitlab: string
  projectId: string
  /** GitHub and GitLab: which jobs are trusted. */
  jobsBy: 'environment' | 'branch'
  environment: string
  branch: string
  /** Jenkins: the server, and the job with its folders. */
  jenkins: string
  job: string
  /** Another platform. */
  issuer: string
  claims: Claim[]
}

/** `audience` is the address of this server. */
export const newTrust = (audience: string): TrustDraft => ({
  platform: 'github',
  audience,
  repository: '',
  ownerId: '',
  gitlab: 'https://gitlab.com',
  projectId: '',
  jobsBy: 'environment',
  environment: '',
  branch: 'main',
  jenkins: '',
  job: '',
  issuer: '',
  claims: [{ row: 0, name: 'sub', value: '' }],
})

/** What the API is asked to trust. */
export function trustOf(draft: TrustDraft): Omit<NewTrust, 'name'> {
  return { issuer: issuerOf(draft), audience: draft.audience.trim(), claims: CLAIMS[draft.platform](draft) }
}

function issuerOf({ platform, gitlab, jenkins, issuer }: TrustDraft): string {
  switch (platform) {
    case 'github':
      return 'https://token.actions.githubusercontent.com'
    case 'gitlab':
      return withoutSlash(gitlab)
    case 'jenkins':
      return `${withoutSlash(jenkins)}/oidc`
    case 'other':
      return issuer.trim()
  }
}

const CLAIMS: Record<Platform, (draft: TrustDraft) => NewTrust['claims']> = {
  github: ({ repository, ownerId, jobsBy, environment, branch }) => ({
    repository: repository.trim(),
    ...(ownerId.trim() === '' ? {} : { repository_owner_id: ownerId.trim() }),
    // Other events of a branch, such as workflow_run, may run what a pull request brings.
    ...(jobsBy === 'environment'
      ? { environment: environment.trim() }
      : { ref: `refs/heads/${branch.trim()}`, event_name: 'push' }),
  }),
  gitlab: ({ projectId, jobsBy, environment, branch }) => ({
    project_id: projectId.trim(),
    ...(jobsBy === 'environment'
      ? { environment: environment.trim(), environment_protected: 'true' }
      : // A tag may have the name of a branch.
        { ref: branch.trim(), ref_type: 'branch', ref_protected: 'true' }),
  }),
  jenkins: ({ jenkins, job }) => ({
    sub: `${withoutSlash(jenkins)}/${partsOf(job)
      .map((part) => `job/${encodeURIComponent(part)}/`)
      .join('')}`,
  }),
  other: ({ claims }) =>
    Object.fromEntries(claims.map(({ name, value }) => [name.trim(), value.trim()]).filter(([name]) => name !== '')),
}

const partsOf = (path: string) => path.split('/').flatMap((part) => (part.trim() === '' ? [] : [part.trim()]))
const withoutSlash = (address: string) => address.trim().replace(/\/+$/, '')
