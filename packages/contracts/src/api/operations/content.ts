import { Content } from '../content.ts'
import { op } from './operation.ts'

export const contentOperations = {
  createContent: op({
    method: 'POST',
    path: '/content',
    audit: 'content.create',
    summary: 'Store bytes, at most 1 GiB, under their SHA-256; bytes that are there already are the same record',
    tag: 'content',
    access: 'content:create',
    takesBytes: true,
    responses: { 201: Content },
  }),
  getContent: op({
    method: 'GET',
    path: '/content/{sha256}',
    summary: 'The bytes themselves: for those who brought them, see a source that uses them, or have no tenant',
    tag: 'content',
    access: 'content:read',
    responses: { 200: 'application/octet-stream', 304: null },
  }),
} as const
