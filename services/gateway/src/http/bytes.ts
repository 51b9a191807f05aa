import { MAX_CONTENT_BYTES } from '@slipway/contracts'
import { Problem } from '@slipway/domain'
import type { Request } from 'express'
import { extendArrivalTime } from './arrival.ts'

/**
 * The bytes of a body as they arrive, at most 1 GiB. A larger Content-Length or an encoding is refused before any byte is read.
 * @throws Problem PAYLOAD_TOO_LARGE, UNSUPPORTED_MEDIA_TYPE; while reading also INVALID_BODY
 */
export function bytesOf(request: Request): AsyncIterable<Buffer> {
  if (Number(request.headers['content-length'] ?? 0) > MAX_CONTENT_BYTES) throw tooLarge()
  const encoding = request.headers['content-encoding'] ?? 'identity'
  if (encoding.toLowerCase() !== 'identity') {
    throw new Problem('UNSUPPORTED_MEDIA_TYPE', 'Content encodings are not supported: send the body as it is')
  }
  return read(request)
}

async function* read(request: Request): AsyncGenerator<Buffer> {
  let size = 0
  // The request is not destroyed when reading ends early: the client must be able to read the refusal.
  const pieces = request.iterator({ destroyOnReturn: false })[Symbol.asyncIterator]()
  try {
    for (;;) {
      const { done, value } = await pieces.next().catch(() => {
        throw new Problem('INVALID_BODY', 'The body ended before it was complete')
      })
      if (done) return
      size += value.length
      if (size > MAX_CONTENT_BYTES) throw tooLarge()
      extendArrivalTime(request)
      yield value
    }
  } finally {
    await pieces.return?.()
    // Read and drop the rest: closing a connection with unread bytes may lose the refusal.
    request.resume()
  }
}

const tooLarge = () =>
  new Problem('PAYLOAD_TOO_LARGE', `The body is larger than ${MAX_CONTENT_BYTES} bytes: split it into several files`, {
    limit_bytes: MAX_CONTENT_BYTES,
  })
