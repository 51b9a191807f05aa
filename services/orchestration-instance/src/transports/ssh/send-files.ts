import { type CommandFile, FileError } from '@slipway/execution'
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
    const refused = () => {
      reject(
        new FileError(
          `${endpoint} offers no SFTP, which is needed to copy files: enable the sftp subsystem of its ssh server`,
          files[0]?.content ?? '',
        ),
      )
    }
    client.once('close', refused)
    client.sftp((error, sftp) => {
      client.off('close', refused)
      if (error) return refused()
      sftp.on('error', () => {})
      resolve(sftp)
    })
  })
}

function put(sftp: SFTPWrapper, file: CommandFile, to: string, endpoint: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const broken = (reason: string) =>
      reject(new FileError(`the file ${file.path} could not be copied to ${endpoint}: ${reason}`, file.content))
    const closed = () => broken('the connection was lost')
    sftp.once('close', closed)
    sftp.fastPut(file.source, to, { mode: 0o600 }, (error) => {
      sftp.off('close', closed)
      if (error) broken(error.message)
      else resolve()
    })
  })
}
