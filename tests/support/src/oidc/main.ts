import { readFileSync } from 'node:fs'
import { startOidcProvider } from './provider.ts'

// The provider of `make run OIDC=1`. scripts/suite/oidc.mjs writes the file with port, users and client.
const { OIDC_PROVIDER_FILE: file = '' } = process.env
const provider = await startOidcProvider(JSON.parse(readFileSync(file, 'utf8')))
process.stdout.write(`the login provider listens at ${provider.issuer}\n`)
