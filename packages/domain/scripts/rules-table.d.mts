import type { Rule } from '../src/analysis/index.ts'

export const PAGE: string
export function withRules(page: string, areas: readonly string[], rules: readonly Rule[]): string
