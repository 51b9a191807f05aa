// As whom the commands of local targets run when the suite runs as root: as a system user of their own, not as root,
// who could read every file of this machine.
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import fs from 'node:fs'
import path from 'node:path'
import { root, stateDir } from './settings.mjs'

const NAME = 'slipway-local'
const storefront = path.join(stateDir, 'storefront')
/** For a clone below a folder that only root may enter. */
const elsewhere = `/var/tmp/slipway-local-${createHash('sha256').update(root).digest('hex').slice(0, 10)}`

const succeeds = (command, ...args) => spawnSync(command, args, { stdio: 'ignore' }).status === 0
const asUser = (...words) => succeeds('setpriv', `--reuid=${NAME}`, `--regid=${NAME}`, '--init-groups', '--', ...words)

/**
 * Returns { env, problem }: variables for the orchestration instance, and why there is no such user. The environment wins:
 * SLIPWAY_LOCAL_USER names another user, and an empty one lets commands run as root.
 */
export function localUser() {
  if (process.getuid?.() !== 0 || process.env.SLIPWAY_LOCAL_USER !== undefined) return { env: {} }
  const problem = (why) => ({ env: {}, problem: `the commands of local targets run as root: ${why}` })
  if (!succeeds('getent', 'passwd', NAME)) {
    const options = ['--system', '--user-group', '--create-home', '--home-dir', `/var/lib/${NAME}`]
    if (!succeeds('useradd', ...options, '--shell', '/usr/sbin/nologin', NAME)) {
      return problem(`useradd could not make the system user ${NAME}`)
    }
  }
  if (!asUser('true')) return problem('setpriv cannot change the user')
  if (!asUser('test', '-x', process.execPath)) return problem(`the user ${NAME} may not execute ${process.execPath}`)
  fs.mkdirSync(stateDir, { recursive: true })
  const isReachable = asUser('test', '-x', stateDir)
  prepareStorefront(isReachable ? storefront : path.join(folderElsewhere(), 'storefront'))
  return { env: { SLIPWAY_LOCAL_USER: NAME, ...(isReachable ? {} : { SLIPWAY_LOCAL_DIR: elsewhere }) } }
}

/** Throws when somebody else has made it. */
function folderElsewhere() {
  fs.mkdirSync(elsewhere, { recursive: true })
  const found = fs.lstatSync(elsewhere)
  if (!found.isDirectory() || found.uid !== 0) throw new Error(`${elsewhere} exists and is not ours; remove it`)
  fs.chmodSync(elsewhere, 0o755)
  return elsewhere
}

/**
 * The example's targets live in folders that the user makes. The folder above belongs to root, with the sticky bit: root
 * packs the artifact there, and the user must not put a link in its place.
 */
function prepareStorefront(place) {
  // A clone of before ran the example as root.
  const names = fs.existsSync(storefront) ? fs.readdirSync(storefront) : []
  const left = names.filter((name) => /^storefront-\d+$/.test(name))
  if (left.some((name) => fs.lstatSync(path.join(storefront, name)).uid === 0)) {
    spawnSync('sh', ['examples/storefront/stop.sh'], { cwd: root, stdio: 'ignore' })
    spawnSync('chown', ['-hR', NAME, ...left], { cwd: storefront, stdio: 'ignore' })
  }
  fs.mkdirSync(path.join(place, 'artifacts'), { recursive: true })
  fs.closeSync(fs.openSync(path.join(place, 'artifact.env'), 'a'))
  fs.chmodSync(place, 0o1777)
  if (place !== storefront && !fs.existsSync(storefront)) fs.symlinkSync(place, storefront)
}
