import type { Answer, SlipwayClient } from '@slipway/client'
import { type Command, InvalidArgumentError, Option } from 'commander'
import { getAudience } from '../configuration/id-token.ts'
import { sanitize } from '../terminal/controls.ts'
import { requireConsent } from '../terminal/prompt.ts'
import { formatRecord } from '../terminal/record.ts'
import { showTime } from '../terminal/table.ts'
import { type Context, provideContext } from './context.ts'
import { chooseEntry } from './entries.ts'
import { formatLabels } from './kinds.ts'
import { addNoun, LIST } from './nouns.ts'
import { DO_NOT_ASK } from './record-commands.ts'
import { findId } from './records.ts'
import { buildTokenRule, type TrustOptions } from './trust-claims.ts'
import { collect } from './values.ts'
import { addListAction } from './watching.ts'

const TRUST = 'name or id of the trust'
const ACCOUNT = 'name or id of the service account'

export function addTrusts(program: Command): void {
  const trusts = addNoun(program, 'trusts', 'which pipelines a service account is for', {
    edit: 'create a trust with the other claims, and delete this one',
  })
  addListAction(
    trusts.command('list', LIST).argument('<account>', ACCOUNT).description('list the trusts of a service account'),
    list,
  )
  trusts
    .command('create')
    .argument('<account>', ACCOUNT)
    .description('let pipelines use a service account without a stored secret')
    .option('--name <name>', 'name of the trust; default: made of the other options')
    .addOption(
      new Option('--github <repository>', 'OWNER/REPOSITORY whose workflows on GitHub may use it')
        .argParser(parseRepository)
        .conflicts('gitlab'),
    )
    .addOption(
      new Option('--gitlab <project>', 'GROUP/PROJECT whose pipelines on GitLab may use it').argParser(parseRepository),
    )
    .option('--branch <branch>', 'only runs on this branch; a * at the end stands for any text')
    .option('--environment <name>', 'only jobs with this environment of GitHub or GitLab')
    .option('--issuer <url>', 'issuer of the tokens: another platform, or your own GitHub or GitLab server')
    .option('--audience <audience>', 'audience of the tokens; default: the address of this server')
    .option(
      '--claim <name=value>',
      'a claim that the tokens must have; a * at its end stands for any text (repeatable)',
      collect(parseClaim),
    )
    .action(provideContext(create))
  trusts
    .command('show')
    .argument('<account>', ACCOUNT)
    .argument('<trust>', TRUST)
    .description('show all fields of one trust')
    .action(
      provideContext(async ({ client, output }, account: string, nameOrId: string) => {
        const trust = await findTrust(client, await findId(client, 'service-account', account), nameOrId)
        output.printRecord(trust, () => formatRecord('trust', trust, () => null))
      }),
    )
  trusts
    .command('delete')
    .argument('<account>', ACCOUNT)
    .argument('<trust>', TRUST)
    .description('delete a trust; access tokens end 15 minutes later at the latest')
    .option('-y, --yes', DO_NOT_ASK)
    .action(provideContext(remove))
}

function parseRepository(text: string): string {
  if (!/^[^/\s]+(\/[^/\s]+)+$/.test(text)) throw new InvalidArgumentError('Write it as OWNER/NAME, without the host.')
  return text
}

function parseClaim(text: string): [string, string] {
  const [, name, value] = /^([^=]+)=(.+)$/s.exec(text) ?? []
  if (name === undefined || value === undefined) throw new InvalidArgumentError('Write it as NAME=VALUE.')
  return [name, value]
}

const findTrust = async (client: SlipwayClient, id: string, nameOrId: string) =>
  chooseEntry('trust', (await client.call('listTrusts', { params: { id } })).trusts, nameOrId)

async function list({ client, output }: Context, account: string): Promise<void> {
  const id = await findId(client, 'service-account', account)
  const { trusts } = await client.call('listTrusts', { params: { id } })
  output.printList(
    trusts,
    [
      ['ID', (one) => one.id],
      ['NAME', ({ name }) => name],
      ['ISSUER', ({ issuer }) => issuer],
      ['AUDIENCE', ({ audience }) => audience],
      ['CLAIMS', ({ claims }) => formatLabels(claims)],
      ['CREATED', ({ created_at }) => showTime(created_at)],
    ],
    'no trusts: no pipeline can use the account without an API key',
  )
}

async function create(
  { io, url, client, output }: Context,
  account: string,
  { audience, ...options }: TrustOptions & { audience?: string },
): Promise<void> {
  const body = { ...buildTokenRule(options), audience: audience ?? getAudience(io, url) }
  const id = await findId(client, 'service-account', account)
  const trust = await client.call('createTrust', { params: { id }, body })
  output.printRecord(trust, () => [`${sanitize(account)} takes ${describe(trust)}`])
  const { github, gitlab, branch, environment, claim } = options
  const isWide = branch === undefined && environment === undefined && claim === undefined
  if (isWide)
    output.warn([`every branch of ${github ?? gitlab} may use ${account}: --branch or --environment limits it`])
}

const describe = ({ name, issuer, audience, claims }: Answer<'createTrust'>) =>
  sanitize(`tokens of ${issuer} for ${audience} with ${formatLabels(claims)} (trust ${name})`)

async function remove(
  { io, client, output }: Context,
  account: string,
  nameOrId: string,
  { yes = false }: { yes?: boolean },
): Promise<void> {
  const id = await findId(client, 'service-account', account)
  const trust = await findTrust(client, id, nameOrId)
  await requireConsent(io, `delete trust ${sanitize(trust.name)} of ${sanitize(account)}`, { yes })
  await client.call('deleteTrust', { params: { id, trust_id: trust.id } })
  output.printRecord({ id: trust.id, name: trust.name, deleted: true }, () => [`deleted trust ${sanitize(trust.name)}`])
}
