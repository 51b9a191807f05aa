import { execFileSync } from 'node:child_process'

/** A network namespace with one connection: a pair of virtual devices to this machine. It needs root and iproute2. */
export interface Network {
  name: string
  /** The address of this machine, seen from inside. */
  hostAddress: string
  /** The address of the namespace. */
  address: string
  /** Silently drops all packets in both directions until `restore`. */
  cut(): void
  restore(): void
  /** `address:port` of each listening TCP socket inside. */
  listening(): string[]
  /** Both ends of each established TCP connection inside. */
  connections(): { local: string; remote: string }[]
  remove(): void
}

const ip = (...args: string[]) => execFileSync('ip', args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] })

/** Why this machine cannot create network namespaces; null if it can. */
export function networksProblem(): string | null {
  const name = `slipway-try-${process.pid}`
  try {
    ip('netns', 'add', name)
    ip('link', 'add', `swt${process.pid}`, 'type', 'veth', 'peer', 'name', 'inside', 'netns', name)
    ip('netns', 'delete', name)
    return null
  } catch (error) {
    const { code, stderr } = error as { code?: string; stderr?: string }
    if (code === 'ENOENT') return 'iproute2 is missing'
    try {
      ip('netns', 'delete', name)
    } catch {
      // The namespace was not created.
    }
    return `no right to make network namespaces: ${String(stderr).trim()}`
  }
}

/** Creates networks without connections to each other. */
export function createNetworks(count: number): Network[] {
  const made: Network[] = []
  try {
    for (let index = 0; index < count; index += 1) made.push(createNetwork(index))
  } catch (error) {
    for (const network of made) network.remove()
    throw error
  }
  return made
}

function createNetwork(index: number): Network {
  const name = `slipway-${process.pid}-${index}`
  // The name of a device has at most 15 characters.
  const outside = `sw${process.pid}-${index}`
  // The range for benchmarks (RFC 2544), which real networks do not use.
  const prefix = `198.18.${process.pid % 256}`
  const [hostAddress, address] = [`${prefix}.${4 * index + 1}`, `${prefix}.${4 * index + 2}`]
  const remove = () => {
    // This also deletes the pair of devices.
    ip('netns', 'delete', name)
  }
  ip('netns', 'add', name)
  try {
    ip('link', 'add', outside, 'type', 'veth', 'peer', 'name', 'inside', 'netns', name)
    ip('address', 'add', `${hostAddress}/30`, 'dev', outside)
    ip('link', 'set', outside, 'up')
    ip('-n', name, 'link', 'set', 'lo', 'up')
    ip('-n', name, 'address', 'add', `${address}/30`, 'dev', 'inside')
    ip('-n', name, 'link', 'set', 'inside', 'up')
  } catch (error) {
    remove()
    throw error
  }
  const sockets = (...options: string[]) =>
    ip('netns', 'exec', name, 'ss', '-H', '-n', '-t', ...options)
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => line.trim().split(/\s+/))
  return {
    name,
    hostAddress,
    address,
    // The device inside loses its carrier and drops packets. Its addresses and routes stay.
    cut: () => void ip('link', 'set', outside, 'down'),
    restore: () => void ip('link', 'set', outside, 'up'),
    listening: () => sockets('-l').map(([, , , local = '']) => local),
    connections: () => sockets('state', 'established').map(([, , local = '', remote = '']) => ({ local, remote })),
    remove,
  }
}
