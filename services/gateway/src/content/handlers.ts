import type { IncomingHttpHeaders } from 'node:http'
import { contentBytes } from '@slipway/database'
import { notFound } from '@slipway/domain'
import type { Dependencies } from '../dependencies.ts'
import type { HandlersOf } from '../handler.ts'
import { claimedDigest, digestHeader, digestMismatch } from './digest.ts'
import { listContent } from './list.ts'
import { insertUploader } from './store.sql.ts'
import { storeContent } from './store.ts'
import { visibleContent } from './visible-content.ts'

const SHA256 = /^[0-9a-f]{64}$/

export const contentHandlers = ({
  database,
  contentLimits,
}: Dependencies): HandlersOf<'listContent' | 'createContent' | 'getContent'> => ({
  listContent: { handle: (call) => listContent(database, call) },
  createContent: {
    async handle({ body, headers, caller, audit }) {
      const claimed = claimedDigest(headers['content-digest'])
      const incoming = { bytes: body, length: lengthOf(headers), tenantId: caller.tenant_id }
      const { id, size } = await storeContent(database, contentLimits, incoming, {
        accept(received) {
          if (claimed !== null && claimed !== received.id) throw digestMismatch(received.id)
        },
        async finish(tx, received) {
          await insertUploader.run(tx, { content_id: received.id, user_id: caller.user_id })
          const details = { size: received.size }
          await audit.record(tx, { resource_id: received.id, tenant_id: caller.tenant_id, details })
        },
      })
      return { status: 201, body: { id, size } }
    },
  },
  getContent: {
    async handle({ caller, params, headers }) {
      const id = params['sha256'] ?? ''
      const [content] = SHA256.test(id) ? await visibleContent(database, caller, [id]) : []
      if (content === undefined) throw notFound('This content')
      const etag = `"${id}"`
      // The bytes of a hash never change. The right to read them may, so only private caches may store them.
      const caching = { ETag: etag, 'Cache-Control': 'private, max-age=31536000, immutable' }
      if (matches(headers['if-none-match'], etag)) return { status: 304, headers: caching }
      return {
        status: 200,
        headers: { ...caching, 'Content-Digest': digestHeader(id), 'Content-Disposition': 'attachment' },
        bytes: contentBytes(database, content),
        length: content.size,
      }
    },
  },
})

/** Null for a chunked body. */
const lengthOf = ({ 'content-length': length }: IncomingHttpHeaders) => (length === undefined ? null : Number(length))

/** Whether an If-None-Match header names this entity tag, strong or weak. */
function matches(header: string | undefined, etag: string): boolean {
  const tags = (header ?? '').split(',').map((tag) => tag.trim().replace(/^W\//, ''))
  return tags.includes(etag) || tags.includes('*')
}
