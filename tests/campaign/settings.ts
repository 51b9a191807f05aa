/**
 * Reads numbers such as MINUTES=60 from the arguments, else from the environment. `least` has the lowest allowed value of each
 * setting. A wrong setting ends the process with 2, before anything has started.
 */
export function readSettings<Name extends string>(least: Record<Name, number>): (name: Name) => number | undefined {
  const given = new Map<string, string>()
  for (const argument of process.argv.slice(2)) {
    const [name = '', value = ''] = argument.split('=')
    given.set(name, value)
  }
  const lowest = new Map<string, number>(Object.entries(least))
  for (const name of given.keys()) {
    if (!lowest.has(name)) refuse(`${name} is not a setting; the settings are ${[...lowest.keys()].join(', ')}`)
  }
  const values = new Map<string, number>()
  for (const [name, from] of lowest) {
    const text = given.get(name) ?? process.env[name] ?? ''
    if (text === '') continue
    const value = Number(text)
    if (!Number.isFinite(value) || value < from) refuse(`${name} must be a number from ${from}, not ${text}`)
    values.set(name, value)
  }
  return (name) => values.get(name)
}

function refuse(reason: string): never {
  console.error(`campaign: ${reason}`)
  process.exit(2)
}
