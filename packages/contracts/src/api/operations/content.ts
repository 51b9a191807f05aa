import { Strict } from '../../schema.ts'
import { Page, PageQuery } from '../common.ts'
import { Content, ListedContent } from '../content.ts'
import { op } from './operation.ts'

export const contentOperations = {
  listContent: op({
    method: 'GET',
    path: '/content',
    summary: 'List the content that the caller may read, last uploaded first',
    description:
      'Lists content that the caller uploaded or that an action uses which the caller sees; all content for callers without tenant. The last uploaded comes first. Each entry tells when it was last uploaded, and which versions of actions use it.',
    tag: 'content',
    access: 'content:read',
    query: Strict(PageQuery),
    responses: { 200: Page(ListedContent) },
  }),
  createContent: op({
    method: 'POST',
    path: '/content',
    audit: 'content.create',
    summary:
      'Store at most 1 GiB under the SHA-256 of the bytes; equal bytes are one record. Beyond the quota of the tenant or of the store: 413 with details.limit_bytes',
    description:
      'Stores the bytes of the body, at most 1 GiB, under their SHA-256. The media type does not matter. Equal bytes are one record, so a repeated upload gets the same answer. Beyond 1 GiB, or the quota of the tenant or of the store: 413 with details.limit_bytes. Actions name content in `files`; content that no action uses is deleted 30 days after its last upload (SLIPWAY_CONTENT_RETENTION_DAYS).',
    tag: 'content',
    access: 'content:create',
    takesBytes: true,
    responses: { 201: Content },
  }),
  getContent: op({
    method: 'GET',
    path: '/content/{sha256}',
    summary: 'Read the bytes. Allowed for users who uploaded them, who see a source with them, or who have no tenant',
    description:
      'Returns the bytes, with `ETag` and `Content-Digest`. Allowed for users who uploaded them, who see a source with them, or who have no tenant; 404 for others. `If-None-Match` with the ETag is answered with 304.',
    tag: 'content',
    access: 'content:read',
    responses: { 200: 'application/octet-stream', 304: null },
  }),
} as const
