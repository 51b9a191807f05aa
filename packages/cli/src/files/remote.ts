import { readFileSync, statSync } from 'node:fs'
import { hostname } from 'node:os'
import path from 'node:path'

/**
 * Returns the address of the remote `origin`, else of the first remote, in a form that is the same for every protocol and user:
 * `example.com/shop/catalog`. Returns null without a remote. Does not call Git: images of pipelines may lack it.
 */
export function readRemote(repository: string): string | null {
  const url = findRemoteUrl(readConfiguration(repository))
  return url === null ? null : normalizeRemote(url, repository)
}

function readConfiguration(repository: string): string {
  try {
    return readFileSync(path.join(findCommonFolder(path.join(repository, '.git')), 'config'), 'utf8')
  } catch {
    return ''
  }
}

/** In a worktree or a submodule, `.git` is a file that names the folder. Worktrees share the configuration of the repository. */
function findCommonFolder(git: string): string {
  if (statSync(git).isDirectory()) return git
  const [, named = ''] = /^gitdir: (.+)$/m.exec(readFileSync(git, 'utf8')) ?? []
  const folder = path.resolve(path.dirname(git), named.trim())
  try {
    return path.resolve(folder, readFileSync(path.join(folder, 'commondir'), 'utf8').trim())
  } catch {
    return folder
  }
}

function findRemoteUrl(configuration: string): string | null {
  const urls = new Map<string, string>()
  let remote: string | undefined
  for (const line of configuration.split('\n')) {
    if (/^\s*\[/.test(line)) remote = /^\s*\[remote "(.*)"\]/.exec(line)?.[1]
    const [, url] = /^\s*url\s*=\s*"?(.*?)"?\s*$/.exec(line) ?? []
    if (remote !== undefined && url && !urls.has(remote)) urls.set(remote, url)
  }
  return urls.get('origin') ?? [...urls.values()][0] ?? null
}

const SCP_ADDRESS = /^(?:[^@/]+@)?([^:/]+):(?!\/\/)(.+)$/

/** The path of a repository on this machine means another repository on another host. */
function normalizeRemote(url: string, repository: string): string {
  const trimmed = url.replace(/\/+$/, '').replace(/\.git$/, '')
  if (URL.canParse(trimmed) && /^[a-z+]+:\/\/./i.test(trimmed) && !/^file:/i.test(trimmed)) {
    const { protocol, host, hostname: name, pathname } = new URL(trimmed)
    // A server has different ports for SSH and for HTTPS.
    return `${(/^https?:$/.test(protocol) ? host : name).toLowerCase()}${pathname}`
  }
  const [, name, inside] = SCP_ADDRESS.exec(trimmed) ?? []
  if (name !== undefined && inside !== undefined) return `${name.toLowerCase()}/${inside.replace(/^\/+/, '')}`
  return `${hostname()}:${path.resolve(repository, trimmed.replace(/^file:\/\//i, ''))}`
}
