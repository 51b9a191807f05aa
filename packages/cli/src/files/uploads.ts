import { createHash } from 'node:crypto'
import { closeSync, openAsBlob, openSync, readSync } from 'node:fs'
import { PermissionError, type SlipwayClient } from '@slipway/client'
import { RefusedError } from '../exit-code.ts'
import type { Change } from './change.ts'

/** A file whose content an action takes by `!content`. */
export interface ContentFile {
  /** SHA-256 in hex. */
  id: string
  size: number
  file: string
}

const PIECE_BYTES = 1024 * 1024

/** Reads a file of any size piece by piece. Throws the errors of Node. */
export function hashFile(file: string): ContentFile {
  const hash = createHash('sha256')
  const piece = Buffer.allocUnsafe(PIECE_BYTES)
  const descriptor = openSync(file, 'r')
  let size = 0
  try {
    for (let read = readSync(descriptor, piece); read > 0; read = readSync(descriptor, piece)) {
      hash.update(piece.subarray(0, read))
      size += read
    }
  } finally {
    closeSync(descriptor)
  }
  return { id: hash.digest('hex'), size, file }
}

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
