import { Content } from '../content.ts'
import { op } from './operation.ts'

export const contentOperations = {
  createContent: op({
    method: 'POST',
    path: '/content',
    audit: 'content.create',
    summary:
      'Store at most 1 GiB under the SHA-256 of the bytes; equal bytes are one record. Beyond the quota of the tenant or of the store: 413 with details.limit_bytes',
    description:
      'Stores the bytes of the body, at most 1 GiB, under their SHA-256. Equal bytes are one record. Actions name content in `files`. Beyond the quota of the tenant or of the store: 413 with details.limit_bytes.',
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
      'Returns the bytes. Allowed for users who uploaded them, who see a source with them, or who have no tenant. `If-None-Match` is answered with 304.',
    tag: 'content',
    access: 'content:read',
    responses: { 200: 'application/octet-stream', 304: null },
  }),
} as const
