import { PermissionError, type SlipwayClient } from '@slipway/client'
import type { Change } from './change.ts'

/**
 * Returns a problem for each file of a new version that names content which the server does not have, so that nothing is changed
 * before the upload. If the caller may not list content, it returns none, and the server refuses the change itself.
 */
export async function findContentProblems(client: SlipwayClient, changes: readonly Change[]): Promise<string[]> {
  const files = changes.flatMap(getFiles)
  const missing = new Set(files.map(({ content }) => content))
  if (missing.size === 0) return []
  try {
    // The last uploaded comes first, so the first page usually has all.
    for await (const { id } of client.each('listContent')) {
      missing.delete(id)
      if (missing.size === 0) return []
    }
  } catch (error) {
    if (error instanceof PermissionError) return []
    throw error
  }
  return files.flatMap(({ content, describe }) => (missing.has(content) ? [describe()] : []))
}

interface NamedContent {
  content: string
  describe(): string
}

function getFiles({ entry: { kind, value, document }, what }: Change): NamedContent[] {
  if (kind !== 'action' || (what !== 'create' && what !== 'publish')) return []
  const { files = [] } = value['definition'] as { files?: { content: string }[] }
  return files.map(({ content }, n) => ({
    content,
    describe: () =>
      document.describeProblem(
        `/definition/files/${n}/content`,
        'is not on the server: upload the file first, with `slipway content upload`',
      ),
  }))
}
