// Asks the shop until the new version answers that it is well, or the time is over.
const { SLIPWAY_VAR_PORT: port, SLIPWAY_VAR_VERSION: version, SLIPWAY_VAR_HEALTH_SECONDS: seconds } = process.env
const url = `http://127.0.0.1:${port}/health`

async function ask() {
  try {
    const answer = await fetch(url, { signal: AbortSignal.timeout(2000) })
    const body = await answer.json()
    return { isWell: answer.ok && body.version === version, said: `${answer.status} ${JSON.stringify(body)}` }
  } catch (error) {
    return { isWell: false, said: (error.cause ?? error).message }
  }
}

async function main() {
  const end = Date.now() + Number(seconds) * 1000
  for (;;) {
    const { isWell, said } = await ask()
    if (isWell) return console.log(`${url} is well: ${said}`)
    if (Date.now() > end) throw new Error(`shop ${version} is not well after ${seconds} s; ${url} says: ${said}`)
    await new Promise((resolve) => setTimeout(resolve, 250))
  }
}

main().catch((error) => {
  console.error(error.message)
  process.exitCode = 1
})
