import { createHash } from 'node:crypto'
import { closeSync, openSync, readSync } from 'node:fs'

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
