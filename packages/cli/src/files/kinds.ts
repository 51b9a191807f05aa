/** The kinds of records in files. A kind comes after all kinds that it refers to. */
export const KINDS = ['tenant', 'environment', 'action', 'sequence', 'solution', 'target', 'freeze'] as const
export type FileKind = (typeof KINDS)[number]
