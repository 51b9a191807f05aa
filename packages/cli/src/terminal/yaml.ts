import { stringify } from 'yaml'

/** Prints texts of several lines as `|` blocks: people copy scripts from here, and YAML would fold their long lines. */
export const formatYaml = (value: unknown): string => stringify(value, { lineWidth: 0, blockQuote: 'literal' })
