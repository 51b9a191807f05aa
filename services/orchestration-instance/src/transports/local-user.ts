import { chmod } from 'node:fs/promises'
import path from 'node:path'
import { LocalUser, LocalUserError } from '@slipway/commands'
import { ConfigurationError, type Logger } from '@slipway/runtime'

interface LocalUserSettings {
  SLIPWAY_LOCAL_USER?: string | undefined
  SLIPWAY_LOCAL_DIR?: string | undefined
}

/** Other users may traverse the folder. They cannot list or read it. */
const PASSABLE = 0o711

interface LocalUserPlace {
  user: LocalUser
  /** The folder for the directories of commands. */
  folder: string
}

/**
 * The user of local commands and the folder for their directories; null if the commands run as the user of the instance.
 * @throws ConfigurationError
 */
export async function openLocalUser(
  { SLIPWAY_LOCAL_USER: userName, SLIPWAY_LOCAL_DIR: ownFolder }: LocalUserSettings,
  journalFolder: string,
  logger: Logger,
): Promise<LocalUserPlace | null> {
  if (userName === undefined) {
    logger.info('local commands run as the user of the instance: SLIPWAY_LOCAL_USER is not set', {
      uid: process.getuid?.(),
    })
    return null
  }
  const user = await asConfiguration('SLIPWAY_LOCAL_USER', () => LocalUser.find(userName))
  if (ownFolder === undefined) await chmod(journalFolder, PASSABLE)
  logger.info('local commands run as the user that SLIPWAY_LOCAL_USER names', { user: user.name, uid: user.uid })
  return { user, folder: path.join(path.resolve(ownFolder ?? journalFolder), 'local-commands') }
}

/** @throws ConfigurationError if the user can read one of the places */
export async function requireUnreadable({ user }: LocalUserPlace, places: readonly string[]): Promise<void> {
  const { stdout } = await user.processes.run('for place do [ ! -r "$place" ] || echo "$place"; done', places)
  const readable = stdout.trim().split('\n').join(', ')
  if (readable === '') return
  const problem = `names the user "${user.name}", which can read ${readable}: remove that permission (chmod o=,g=)`
  throw new ConfigurationError([{ variable: 'SLIPWAY_LOCAL_USER', problem }])
}

/** Turns a LocalUserError of the work into a configuration error. */
export async function asConfiguration<T>(variable: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof LocalUserError)) throw error
    throw new ConfigurationError([{ variable, problem: error.message }])
  }
}
