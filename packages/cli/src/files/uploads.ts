import { openAsBlob } from 'node:fs'
import { PermissionError, type SlipwayClient } from '@slipway/client'
import { RefusedError } from '../exit-code.ts'
import type { Change } from './change.ts'
import type { ContentFile } from './content-file.ts'

/** Lists the files that the changes need and the server does not have, each content once. */
export async function listUploads(client: SlipwayClient, changes: readonly Change[]): Promise<ContentFile[]> {
  const needed = new Map(changes.flatMap(listContent).map((one) => [one.id, one]))
  if (needed.size === 0) return []
  try {
    // The last uploaded comes first, so the first page usually has all.
    for await (const { id } of client.each('listContent')) {
      needed.delete(id)
      if (needed.size === 0) break
    }
  } catch (error) {
    // Who may not list content uploads all: the server stores equal content once.
    if (!(error instanceof PermissionError)) throw error
  }
  return [...needed.values()]
}

function listContent({ entry: { kind, value, document }, what }: Change): ContentFile[] {
  if (kind !== 'action' || what === 'change') return []
  const { files = [] } = value['definition'] as { files?: { content: string }[] }
  return files.flatMap(({ content }) => document.contents.get(content) ?? [])
}

/** Throws RefusedError if the file has changed since it was hashed. */
export async function uploadContent(client: SlipwayClient, { id, file }: ContentFile): Promise<void> {
  const uploaded = await client.call('createContent', { body: await openAsBlob(file) })
  if (uploaded.id !== id) throw new RefusedError(`${file} has changed while it was read: run apply again`)
}
