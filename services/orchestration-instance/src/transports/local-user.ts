import { chmod } from 'node:fs/promises'
import path from 'node:path'
import { LocalUser, LocalUserError } from '@slipway/execution'
import { ConfigurationError, type Logger } from '@slipway/runtime'

interface LocalUserSettings {
  SLIPWAY_LOCAL_USER?: string | undefined
  SLIPWAY_LOCAL_DIR?: string | undefined
}

/** Other users may traverse the folder. They cannot list or read it. */
const PASSABLE = 0o711

export interface LocalUserPlace {
  user: LocalUser
  /** For the directories of the user's commands. */
  folder: string
}

/**
 * The user as whom local commands run, and the folder for their directories; null where they run as the user of the
 * instance.
 * @throws ConfigurationError
 */
export async function openLocalUser(
  { SLIPWAY_LOCAL_USER: wanted, SLIPWAY_LOCAL_DIR: ownFolder }: LocalUserSettings,
  journalFolder: string,
  logger: Logger,
): Promise<LocalUserPlace | null> {
  if (wanted === undefined) {
    logger.info('local commands run as the user of the instance: SLIPWAY_LOCAL_USER is not set', {
      uid: process.getuid?.(),
    })
    return null
  }
  const user = await asConfiguration('SLIPWAY_LOCAL_USER', () => LocalUser.find(wanted))
  if (ownFolder === undefined) await chmod(journalFolder, PASSABLE)
  logger.info('local commands run as the user that SLIPWAY_LOCAL_USER names', { user: user.name, uid: user.uid })
  return { user, folder: path.join(path.resolve(ownFolder ?? journalFolder), 'local-commands') }
}

/**
 * Checks that the user cannot read the folders of the instance.
 * @throws ConfigurationError naming what the user could read
 */
export async function requireUnreadable({ user }: LocalUserPlace, places: readonly string[]): Promise<void> {
  const { stdout } = await user.processes.run('for place do [ ! -r "$place" ] || echo "$place"; done', places)
  const readable = stdout.trim().split('\n').join(', ')
  if (readable === '') return
  const problem = `names the user "${user.name}", who can read ${readable}: take that permission away (chmod o=,g=)`
  throw new ConfigurationError([{ variable: 'SLIPWAY_LOCAL_USER', problem }])
}

/** Opens the folder for the commands of the user, and reports a problem as a configuration error. */
export async function asConfiguration<T>(variable: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof LocalUserError)) throw error
    throw new ConfigurationError([{ variable, problem: error.message }])
  }
}
