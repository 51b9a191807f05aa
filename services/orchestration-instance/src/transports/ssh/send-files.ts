import { type CommandFile, FileError } from '@slipway/commands'
import type { Client, SFTPWrapper } from 'ssh2'

/** Copies files to a folder of the host, named by their index. Throws FileError. */
export async function sendFiles(
  client: Client,
  endpoint: string,
  folder: string,
  files: readonly CommandFile[],
  signal: AbortSignal,
): Promise<void> {
  const sftp = await openSftp(client, endpoint, files)
  const end = () => sftp.end()
  // This makes the current transfer fail.
  signal.addEventListener('abort', end, { once: true })
  try {
    for (const [index, file] of files.entries()) {
      signal.throwIfAborted()
      await put(sftp, file, `${folder}/${index}`, endpoint)
    }
  } finally {
    signal.removeEventListener('abort', end)
    end()
  }
}

function openSftp(client: Client, endpoint: string, files: readonly CommandFile[]): Promise<SFTPWrapper> {
  return new Promise((resolve, reject) => {
    const failed = (problem: string) => reject(new FileError(problem, files[0]?.content ?? ''))
    const closed = () => failed(`no files can be copied to ${endpoint}: the connection was lost`)
    client.once('close', closed)
    client.sftp((error, sftp) => {
      client.off('close', closed)
      if (error) return failed(sftpProblem(error, endpoint))
      sftp.on('error', () => {})
      resolve(sftp)
    })
  })
}

/** What the library adds to the errors of its SFTP sessions. */
interface SftpError extends Error {
  /** `sftp-protocol`: the host sent something that is no SFTP. */
  level?: string
  /** Set if the host refused the channel. */
  reason?: unknown
  /** The exit code of the SFTP server if it ended before it answered, or the status of a refused operation. */
  code?: number | string
  signal?: string
}

/** Each cause needs another remedy. */
export function sftpProblem({ level, reason, code, signal }: SftpError, endpoint: string): string {
  if (level === 'sftp-protocol') {
    return (
      `${endpoint} sends text where SFTP is expected, which is needed to copy files: a start file of the login shell (such as ` +
      '.bashrc) prints without a terminal, or a forced command replaces SFTP; let it print nothing there, or set ' +
      '"Subsystem sftp internal-sftp" in sshd_config'
    )
  }
  if (reason !== undefined) {
    return (
      `${endpoint} refuses a second session on the connection, which is needed to copy files: set MaxSessions of its ssh ` +
      'server to 2 or more (sshd_config)'
    )
  }
  if (typeof code === 'number' || signal !== undefined) {
    const how = signal === undefined ? `exit code ${code}` : signal
    return (
      `the SFTP server of ${endpoint} ended at its start (${how}), and it is needed to copy files: the program of "Subsystem ` +
      'sftp" in sshd_config is missing or fails, or a start file of the login shell exits'
    )
  }
  return `${endpoint} offers no SFTP, which is needed to copy files: enable the sftp subsystem of its ssh server`
}

/** The status with which a host refuses a write for any reason without a status of its own. */
const SSH_FX_FAILURE = 4

function put(sftp: SFTPWrapper, file: CommandFile, to: string, endpoint: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const broken = (reason: string) =>
      reject(new FileError(`the file ${file.path} could not be copied to ${endpoint}: ${reason}`, file.content))
    const closed = () => broken('the connection was lost')
    sftp.once('close', closed)
    sftp.fastPut(file.source, to, { mode: 0o600 }, (error) => {
      sftp.off('close', closed)
      if ((error as SftpError | undefined)?.code === SSH_FX_FAILURE) {
        broken('the host refuses to write it: its disk or a quota may be full')
      } else if (error) broken(error.message)
      else resolve()
    })
  })
}
