import { MAX_CONTENT_BYTES } from '@slipway/contracts'
import { Problem } from '@slipway/domain'
import type { Request } from 'express'
import { keepsArriving } from './arrival.ts'

/**
 * The bytes of a body as they come, at most 1 GiB; what says beforehand that it is larger, or is encoded, is refused
 * before anything of it is read.
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
  // Not destroyed when reading ends early: whoever is refused shall hear it.
  const pieces = request.iterator({ destroyOnReturn: false })[Symbol.asyncIterator]()
  for (;;) {
    const { done, value } = await pieces.next().catch(() => {
      throw new Problem('INVALID_BODY', 'The body ended before it was complete')
    })
    if (done) return
    size += value.length
    if (size > MAX_CONTENT_BYTES) throw tooLarge()
    keepsArriving(request)
    yield value
  }
}

const tooLarge = () => new Problem('PAYLOAD_TOO_LARGE', `The body is larger than ${MAX_CONTENT_BYTES} bytes`)
