import type { SCHEMAS } from '../src/files/schemas.ts'

export const PAGE: string
export function withTables(page: string, schemas: typeof SCHEMAS): string
