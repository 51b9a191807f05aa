/** The limits of each process of a command; 0 for no own limit. */
export interface LocalLimits {
  /** Address space. */
  memoryMib: number
  openFiles: number
  /** The size of one written file. */
  fileMib: number
}

const NONE: LocalLimits = { memoryMib: 0, openFiles: 0, fileMib: 0 }
const BLOCKS_PER_MIB = 2_048

/** Shell commands that set the limits. Core dumps are off, because they would hold the secrets of the command. */
export function limitCommands({ memoryMib, openFiles, fileMib }: LocalLimits = NONE): string {
  return [
    'ulimit -c 0',
    ...(memoryMib > 0 ? [`ulimit -v ${memoryMib * 1_024}`] : []),
    ...(openFiles > 0 ? [`ulimit -n ${openFiles}`] : []),
    ...(fileMib > 0 ? [`ulimit -f ${fileMib * BLOCKS_PER_MIB}`] : []),
  ].join('; ')
}
