import { execFile, spawnSync } from 'node:child_process'
import fs from 'node:fs'
import http from 'node:http'
import { type AddressInfo, createServer } from 'node:net'
import os from 'node:os'
import path from 'node:path'
import { afterAll, describe, expect, test } from '@jest/globals'
import { Health, startManagementServer } from '@slipway/runtime'
import { repositoryRoot } from '@slipway/testing'
import { STAGES, said, stage } from './dockerfile.ts'
import { SERVICES } from './services.ts'

const read = (file: string) => fs.readFileSync(path.join(repositoryRoot, file), 'utf8')
const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'slipway-images-'))
afterAll(() => fs.rmSync(folder, { recursive: true }))

test('make pin-images writes the digest that the registry gives, after its anonymous login', async () => {
  const digest = `sha256:${'a1'.repeat(32)}`
  const registry = http.createServer((request, response) => {
    const { host } = request.headers
    if (request.url?.startsWith('/token')) return response.end('{"token":"anonymous"}')
    if (request.headers.authorization !== 'Bearer anonymous') {
      const challenge = `Bearer realm="http://${host}/token",service="registry",scope="repository:tools/proxy:pull"`
      return response.writeHead(401, { 'www-authenticate': challenge }).end()
    }
    const isKnown = request.url === '/v2/tools/proxy/manifests/1.2'
    response.writeHead(isKnown ? 200 : 404, isKnown ? { 'docker-content-digest': digest } : {}).end()
  })
  await new Promise<void>((resolve) => registry.listen(0, '127.0.0.1', resolve))
  const { port } = registry.address() as AddressInfo
  const file = path.join(folder, 'values.yaml')
  const image = `127.0.0.1:${port}/tools/proxy:1.2`
  fs.writeFileSync(file, `a:\n  sentinelImage: ${image}\nb:\n  image: slipway/gateway:0.1.0\n`)
  const pin = (...options: string[]) =>
    new Promise<number>((resolve) => {
      const env = { ...process.env, SLIPWAY_REGISTRY_SCHEME: 'http' }
      const program = path.join(repositoryRoot, 'scripts/pin-images.mjs')
      execFile(process.execPath, [program, ...options, file], { env }, (error) => resolve(error === null ? 0 : 1))
    })
  try {
    expect(await pin('--check')).toBe(1)
    expect(await pin()).toBe(0)
    expect(fs.readFileSync(file, 'utf8')).toBe(
      `a:\n  sentinelImage: ${image}@${digest}\nb:\n  image: slipway/gateway:0.1.0\n`,
    )
    expect(await pin('--check')).toBe(0)
  } finally {
    registry.close()
  }
})

describe('the Dockerfile', () => {
  test('has three images on one base: migrations, the command line, and a service', () => {
    expect(STAGES.filter(({ from }) => from === 'runtime').map(({ name }) => name)).toEqual([
      'migrate',
      'cli',
      'service',
    ])
    expect(STAGES.at(-1)?.name).toBe('service')
    expect(stage('runtime').from).toMatch(/^\$\{BASE\}$/)
  })

  test('uses base images that are pinned by digest', () => {
    const defaults = [...read('deploy/Dockerfile').matchAll(/^ARG (\w*BASE)=(.*)$/gm)].map(([, name, image]) => [
      name,
      image,
    ])
    const pinned = expect.stringMatching(/^[a-z]+:[\w.-]+@sha256:[0-9a-f]{64}$/)
    expect(defaults).toEqual([
      ['BUILD_BASE', pinned],
      ['BASE', pinned],
    ])
    const stagesByName = new Set(STAGES.map(({ name }) => name))
    const bases = STAGES.map(({ from }) => from).filter((from) => !stagesByName.has(from))
    expect(bases).toEqual(defaults.map(([name]) => `\${${name}}`))
  })

  test('runs as a numeric user, under an init, without a shell', () => {
    expect(said('runtime', 'USER')).toEqual([expect.stringMatching(/^[1-9]\d*:[1-9]\d*$/)])
    expect(said('runtime', 'ENTRYPOINT')).toEqual(['["tini", "--"]'])
    for (const name of ['migrate', 'cli', 'service']) {
      expect(said(name, 'USER')).toEqual([])
      for (const call of [...said(name, 'CMD'), ...said(name, 'ENTRYPOINT')]) expect(JSON.parse(call)).toContain('node')
    }
  })

  test('copies only files that .dockerignore admits', () => {
    const lines = read('.dockerignore').split('\n')
    expect(lines).toContain('*')
    const admitted = lines.filter((line) => line.startsWith('!')).map((line) => line.slice(1))
    const sources = STAGES.flatMap(({ name }) => said(name, 'COPY'))
      .filter((rest) => !rest.includes('--from='))
      .flatMap((rest) =>
        rest
          .split(/\s+/)
          .filter((word) => !word.startsWith('--'))
          .slice(0, -1),
      )
    expect(sources.length).toBeGreaterThan(5)
    for (const source of sources) {
      expect(fs.existsSync(path.join(repositoryRoot, source))).toBe(true)
      expect(admitted).toContain(admitted.find((each) => source === each || source.startsWith(`${each}/`)) ?? source)
    }
  })

  test.each(SERVICES)('finds %s as a private package with a main.ts', (service) => {
    const manifest = JSON.parse(read(`services/${service}/package.json`))
    expect(manifest).toMatchObject({ name: `@slipway/${service}`, files: ['dist'], private: true })
    expect(fs.existsSync(path.join(repositoryRoot, 'services', service, 'src/main.ts'))).toBe(true)
  })
})

/** Runs `scripts/images.sh` with a fake engine that records the builds. */
function buildAll(args: string[], env: Record<string, string> = {}) {
  const engine = path.join(folder, 'docker')
  const calls = path.join(folder, 'calls')
  fs.rmSync(calls, { force: true })
  const listed = '[ "$1" != images ] || printf "%s\\n" "REPOSITORY TAG" "slipway/gateway 9.9.9"'
  fs.writeFileSync(engine, `#!/bin/sh\n[ "$1" != build ] || echo "$@" >>${calls}\n${listed}\n`, { mode: 0o755 })
  const { status, stderr } = spawnSync('bash', ['scripts/images.sh', ...args], {
    cwd: repositoryRoot,
    env: { PATH: `${folder}:${process.env['PATH']}`, SLIPWAY_IMAGE_TAG: '9.9.9', ...env },
    encoding: 'utf8',
  })
  const built = fs.existsSync(calls) ? fs.readFileSync(calls, 'utf8').trim().split('\n') : []
  return { status, stderr, built }
}

describe('scripts/images.sh', () => {
  /** An engine that has no image, pulls nothing, and saves an archive with this file. */
  const runWith = (saved: string, ...args: string[]) => {
    const engine = path.join(folder, 'docker')
    fs.writeFileSync(path.join(folder, saved), '{}')
    const script = `case "$1" in
info | build) ;;
save) tar -C ${folder} -cf "$3" ${saved} ;;
images) printf "%s\\n" "REPOSITORY TAG" "slipway/gateway 9.9.9" ;;
*) exit 1 ;;
esac`
    fs.writeFileSync(engine, `#!/bin/sh\n${script}\n`, { mode: 0o755 })
    const env = {
      PATH: `${folder}:${process.env['PATH']}`,
      SLIPWAY_IMAGE_TAG: '9.9.9',
      SLIPWAY_BASE_IMAGE: 'hardened:1',
    }
    return spawnSync('bash', ['scripts/images.sh', ...args], { cwd: repositoryRoot, env, encoding: 'utf8' })
  }

  test('--archives writes an OCI archive, and refuses the format of an old docker', () => {
    expect(runWith('oci-layout', '--archives', folder, 'gateway').status).toBe(0)
    expect(fs.existsSync(path.join(folder, 'slipway-gateway-9.9.9.oci.tar'))).toBe(true)
    const old = runWith('repositories', '--archives', folder, 'gateway')
    expect(old).toMatchObject({ status: 1, stderr: expect.stringContaining('version 25 or newer') })
  })

  test('--check names the base image that cannot be pulled', () => {
    const { status, stderr } = runWith('oci-layout', '--check')
    expect(status).toBe(1)
    expect(stderr).toBe(
      'images: docker cannot pull hardened:1; set SLIPWAY_BASE_IMAGE and SLIPWAY_BUILD_IMAGE to images that it has or can pull\n',
    )
  })
})

describe('make images', () => {
  test('builds every service, the migrations and the command line', () => {
    const { status, built } = buildAll([])
    expect(status).toBe(0)
    const end = (name: string) => `--file deploy/Dockerfile --tag slipway/${name}:9.9.9 .`
    expect(built).toEqual([
      `build --target migrate ${end('migrate')}`,
      `build --target cli ${end('cli')}`,
      ...SERVICES.map((service) => `build --target service --build-arg SERVICE=${service} ${end(service)}`),
    ])
  })

  test('builds on another base', () => {
    const { built } = buildAll(['gateway'], { SLIPWAY_BASE_IMAGE: 'hardened:1', SLIPWAY_BUILD_IMAGE: 'node:1' })
    expect(built).toEqual([expect.stringContaining('--build-arg BASE=hardened:1 --build-arg BUILD_BASE=node:1 ')])
  })

  test('refuses an unknown image and names the known ones', () => {
    const { status, stderr, built } = buildAll(['gatewy'])
    expect({ status, built }).toEqual({ status: 1, built: [] })
    expect(stderr).toContain('there is no image gatewy; there are: migrate cli dispatcher')
  })
})

function ready(port: number): Promise<{ code: number; stdout: string }> {
  const env = { PATH: String(process.env['PATH']), SLIPWAY_MANAGEMENT_PORT: String(port) }
  return new Promise((resolve) => {
    execFile(path.join(repositoryRoot, 'deploy/ready.sh'), { env }, (error, stdout) =>
      resolve({ code: error === null ? 0 : Number(error.code), stdout }),
    )
  })
}

describe('the health command', () => {
  test('reports the readiness of the service', async () => {
    const health = new Health()
    const server = await startManagementServer({ health, port: 0, host: '127.0.0.1' })
    try {
      expect(await ready(server.port)).toEqual({ code: 1, stdout: '{"ready":false,"dependencies":{}}\n' })
      health.check('database', () => true)
      health.setServing(true)
      expect(await ready(server.port)).toEqual({ code: 0, stdout: '' })
      health.check('broker', () => false)
      expect(await ready(server.port)).toEqual({
        code: 1,
        stdout: '{"ready":false,"dependencies":{"database":"up","broker":"down"}}\n',
      })
    } finally {
      await server.close()
    }
  })

  test('fails if no process listens on the port', async () => {
    const server = createServer().listen(0, '127.0.0.1')
    await new Promise((resolve) => server.once('listening', resolve))
    const { port } = server.address() as { port: number }
    await new Promise((resolve) => server.close(resolve))
    expect(await ready(port)).toEqual({ code: 1, stdout: '' })
  })
})
