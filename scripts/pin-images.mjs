// Writes the digests of the images that the deployment files name by tag: `make pin-images`, where a registry is in reach.
//
//   node scripts/pin-images.mjs [--check] [FILE...]
//
// --check changes nothing, and fails if an image of others has no digest. Variables: SLIPWAY_REGISTRY_SCHEME (https).
import fs from 'node:fs'
import path from 'node:path'
import { parseArgs } from 'node:util'

const root = path.dirname(import.meta.dirname)
const FILES = ['docker-compose.yml', 'deploy/Dockerfile', 'deploy/helm/slipway/values.yaml']
/** A list of the image for all platforms comes before the image for one. */
const MANIFESTS = [
  'application/vnd.oci.image.index.v1+json',
  'application/vnd.docker.distribution.manifest.list.v2+json',
  'application/vnd.oci.image.manifest.v1+json',
  'application/vnd.docker.distribution.manifest.v2+json',
].join(', ')
const scheme = process.env['SLIPWAY_REGISTRY_SCHEME'] ?? 'https'
/** `image: NAME:TAG` of YAML, `ARG BASE=NAME:TAG` of a Dockerfile, with or without a digest. Our own images have no digest yet. */
const REFERENCE =
  /^(\s*(?:- )?(?:\w+I|i)mage: *"?|ARG \w+=)((?!slipway\/)[a-z0-9][a-z0-9./-]*(?::\d+\/[a-z0-9./-]+)?:[\w][\w.-]*)(@sha256:[0-9a-f]{64})?("?)$/gm

/** Splits `quay.io/opstree/redis:v7` into registry, repository and tag, as docker does. */
function parse(image) {
  const tagAt = image.lastIndexOf(':')
  const [name, tag] = [image.slice(0, tagAt), image.slice(tagAt + 1)]
  const [first, ...rest] = name.split('/')
  if (rest.length > 0 && (/[.:]/.test(first) || first === 'localhost'))
    return { host: first, repository: rest.join('/'), tag }
  return { host: 'registry-1.docker.io', repository: rest.length > 0 ? name : `library/${name}`, tag }
}

async function digestOf(image) {
  const { host, repository, tag } = parse(image)
  const url = `${scheme}://${host}/v2/${repository}/manifests/${tag}`
  const ask = (authorization) =>
    fetch(url, { method: 'HEAD', headers: { accept: MANIFESTS, ...(authorization ? { authorization } : {}) } })
  let response = await ask()
  if (response.status === 401)
    response = await ask(`Bearer ${await tokenFor(response.headers.get('www-authenticate') ?? '')}`)
  const digest = response.headers.get('docker-content-digest')
  if (!response.ok || !/^sha256:[0-9a-f]{64}$/.test(digest ?? ''))
    throw new Error(`${image}: ${url} answered ${response.status} without a digest`)
  return digest
}

/** An anonymous token, as the registry asks for it. */
async function tokenFor(challenge) {
  const parameters = Object.fromEntries(
    [...challenge.matchAll(/(\w+)="([^"]*)"/g)].map(([, name, value]) => [name, value]),
  )
  const { realm, service, scope } = parameters
  if (!challenge.startsWith('Bearer ') || realm === undefined) throw new Error('the registry needs a login')
  const response = await fetch(`${realm}?${new URLSearchParams({ service: service ?? '', scope: scope ?? '' })}`)
  const { token, access_token } = await response.json()
  return token ?? access_token
}

const { values, positionals } = parseArgs({ options: { check: { type: 'boolean' } }, allowPositionals: true })
const files = positionals.length > 0 ? positionals : FILES.map((file) => path.join(root, file))
let open = 0
for (const file of files) {
  const before = fs.readFileSync(file, 'utf8')
  let after = before
  for (const [whole, start, image, digest, end] of before.matchAll(REFERENCE)) {
    if (values.check) {
      if (digest === undefined) {
        open += 1
        console.error(`${path.relative(root, file)}: ${image} has no digest; run make pin-images`)
      }
      continue
    }
    after = after.replace(whole, `${start}${image}@${await digestOf(image)}${end}`)
    console.log(`${path.relative(root, file)}: ${image}`)
  }
  if (after !== before) fs.writeFileSync(file, after)
}
process.exit(open > 0 ? 1 : 0)
