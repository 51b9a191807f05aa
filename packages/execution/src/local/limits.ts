/** What each process of a command may take at most; 0 for no limit of ours. */
export interface LocalLimits {
  /** Of address space. */
  memoryMib: number
  openFiles: number
  /** Of one file that it writes. */
  fileMib: number
}

const NONE: LocalLimits = { memoryMib: 0, openFiles: 0, fileMib: 0 }
const BLOCKS_A_MIB = 2_048

/** Shell commands that set the limits. Never a core dump: it would hold the command's secrets. */
export function limitCommands({ memoryMib, openFiles, fileMib }: LocalLimits = NONE): string {
  return [
    'ulimit -c 0',
    ...(memoryMib > 0 ? [`ulimit -v ${memoryMib * 1_024}`] : []),
    ...(openFiles > 0 ? [`ulimit -n ${openFiles}`] : []),
    ...(fileMib > 0 ? [`ulimit -f ${fileMib * BLOCKS_A_MIB}`] : []),
  ].join('; ')
}
