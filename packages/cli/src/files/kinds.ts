/** What files can hold, in the order in which they need each other. */
export const KINDS = ['tenant', 'environment', 'action', 'sequence', 'solution', 'target', 'freeze'] as const
export type FileKind = (typeof KINDS)[number]
