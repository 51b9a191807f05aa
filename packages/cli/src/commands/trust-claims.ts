import { UsageError } from '../exit-code.ts'

/** What a trust says of the tokens of a pipeline. */
export interface TokenRule {
  name: string
  issuer: string
  claims: Record<string, string>
}

export interface TrustOptions {
  name?: string
  github?: string
  gitlab?: string
  branch?: string
  environment?: string
  issuer?: string
  claim?: [string, string][]
}

interface Platform {
  issuer: string
  /** The claim with the repository. */
  repository: string
  ofBranch: (branch: string) => Record<string, string>
}

const GITHUB: Platform = {
  issuer: 'https://token.actions.githubusercontent.com',
  repository: 'repository',
  // A `pull_request_target` run of a fork has the ref of the branch as well.
  ofBranch: (branch) => ({ ref: `refs/heads/${branch}`, event_name: 'push' }),
}
const GITLAB: Platform = {
  issuer: 'https://gitlab.com',
  repository: 'project_path',
  // A tag can have the name of a branch.
  ofBranch: (branch) => ({ ref: branch, ref_type: 'branch' }),
}

/**
 * Returns the issuer and claims of the tokens of a pipeline. `--issuer` replaces the issuer of the platform, for servers that a
 * company runs itself. `--claim` adds claims.
 * @throws UsageError if the options name no issuer, or no claim
 */
export function buildTokenRule({ name, issuer, claim = [], ...options }: TrustOptions): TokenRule {
  const ofPlatform = readPlatform(options)
  const claims = { ...ofPlatform?.claims, ...Object.fromEntries(claim) }
  const chosen = issuer ?? ofPlatform?.issuer
  if (chosen === undefined) throw new UsageError('whose tokens? Give --github, --gitlab, or --issuer with --claim')
  if (Object.keys(claims).length === 0) throw new UsageError(`which tokens of ${chosen}? Give a --claim NAME=VALUE`)
  return { name: name ?? ofPlatform?.name ?? chosen, issuer: chosen, claims }
}

function readPlatform({ github, gitlab, branch, environment }: TrustOptions): TokenRule | undefined {
  const repository = github ?? gitlab
  if (repository === undefined) {
    if (branch === undefined && environment === undefined) return undefined
    throw new UsageError('--branch and --environment belong to --github or --gitlab: use --claim with --issuer')
  }
  const platform = github === undefined ? GITLAB : GITHUB
  return {
    name: [repository, branch, environment].filter((part) => part !== undefined).join(' '),
    issuer: platform.issuer,
    claims: {
      [platform.repository]: repository,
      ...(branch === undefined ? {} : platform.ofBranch(branch)),
      ...(environment === undefined ? {} : { environment }),
    },
  }
}
