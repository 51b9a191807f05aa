import { Button, Code, Group, SegmentedControl, SimpleGrid, Stack, Text, TextInput } from '@mantine/core'
import { useWrite } from '../../api/queries.ts'
import { FieldsetProblem } from '../../components/fieldset-problem.tsx'
import { RecordForm } from '../../components/record-form.tsx'
import { type Claim, newTrust, PLATFORMS, type TrustDraft, trustOf } from './trust-draft.ts'

interface Props {
  accountId: string
  onClose: () => void
}

/** Whose tokens a service account takes. The usual platforms need only a few words. */
export function TrustForm({ accountId, onClose }: Props) {
  const create = useWrite('createTrust', 'listTrusts')
  return (
    <RecordForm
      kind="trust"
      initial={{ name: '', draft: newTrust(window.location.origin) }}
      fields={[
        {
          name: 'name',
          label: 'Name',
          description: 'Which pipeline it is for, such as "main branch"',
          required: true,
          maxLength: 255,
        },
        ({ values: { draft }, set, problemAt }) => (
          <>
            <DraftFields
              draft={draft}
              change={(changed) => set({ draft: { ...draft, ...changed } })}
              audienceProblem={problemAt('/audience')}
            />
            {/* Several fields make each of them. */}
            <FieldsetProblem text={problemAt('/issuer')} />
            <FieldsetProblem text={problemAt('/claims')} />
          </>
        ),
      ]}
      writes={[create]}
      save={({ name, draft }) =>
        create.mutate({ params: { id: accountId }, body: { name, ...trustOf(draft) } }, { onSuccess: onClose })
      }
      onClose={onClose}
    />
  )
}

interface FieldsProps {
  draft: TrustDraft
  change: (changed: Partial<TrustDraft>) => void
}

function DraftFields({ draft, change, audienceProblem }: FieldsProps & { audienceProblem: string | undefined }) {
  const { platform } = draft
  return (
    <>
      <SegmentedControl
        aria-label="Platform"
        w="fit-content"
        value={platform}
        onChange={(chosen) => change({ platform: chosen as TrustDraft['platform'] })}
        data={[...PLATFORMS]}
      />
      {platform === 'github' && <GitHubFields draft={draft} change={change} />}
      {platform === 'gitlab' && <GitLabFields draft={draft} change={change} />}
      {platform === 'jenkins' && <JenkinsFields draft={draft} change={change} />}
      {platform === 'other' && <OtherFields draft={draft} change={change} />}
      <DraftInput
        name="audience"
        label="Audience"
        description="The claim aud of the tokens. The address of this server keeps out tokens for other services"
        required
        error={audienceProblem}
        draft={draft}
        change={change}
      />
      <Summary draft={draft} />
    </>
  )
}

type TextName = { [K in keyof TrustDraft]: string extends TrustDraft[K] ? K : never }[keyof TrustDraft]

interface InputProps extends FieldsProps {
  name: TextName
  label: string
  description?: string
  placeholder?: string
  required?: boolean
  error?: string | undefined
  pattern?: string
  /** What the browser says when the text does not have the pattern. */
  title?: string
}

function DraftInput({ name, draft, change, ...input }: InputProps) {
  return (
    <TextInput
      {...input}
      autoComplete="off"
      value={draft[name]}
      onChange={(event) => change({ [name]: event.currentTarget.value })}
    />
  )
}

function GitHubFields(form: FieldsProps) {
  return (
    <>
      <SimpleGrid cols={{ base: 1, sm: 2 }}>
        <DraftInput
          {...form}
          name="repository"
          label="Repository"
          description="With its owner"
          placeholder="acme/shop"
          required
          pattern="\s*[^\/\s]+\/[^\/\s]+\s*"
          title="The owner, a slash, and the name"
        />
        <DraftInput
          {...form}
          name="ownerId"
          label="Number of the owner"
          description="The name of a deleted account can be taken by another"
          placeholder="1234567"
          pattern="\s*[0-9]*\s*"
          title="Digits: the id of the owner in the API of GitHub"
        />
      </SimpleGrid>
      <JobFields {...form} environment="Environment" branch="Pushes to a branch" />
    </>
  )
}

function GitLabFields(form: FieldsProps) {
  return (
    <>
      <SimpleGrid cols={{ base: 1, sm: 2 }}>
        <DraftInput {...form} name="gitlab" label="Address of GitLab" description="It signs the tokens" required />
        <DraftInput
          {...form}
          name="projectId"
          label="Number of the project"
          description="It stays when the project is moved"
          placeholder="42"
          required
          pattern="\s*[0-9]+\s*"
          title="Digits: the page of the project shows them"
        />
      </SimpleGrid>
      <JobFields {...form} environment="Protected environment" branch="Protected branch" />
    </>
  )
}

interface JobProps extends FieldsProps {
  environment: string
  branch: string
}

/** Which jobs of a repository or project are trusted. */
function JobFields({ environment, branch, ...form }: JobProps) {
  const { jobsBy } = form.draft
  return (
    <Group align="flex-end">
      <SegmentedControl
        aria-label="Which jobs"
        value={jobsBy}
        onChange={(by) => form.change({ jobsBy: by as TrustDraft['jobsBy'] })}
        data={[
          { value: 'environment', label: environment },
          { value: 'branch', label: branch },
        ]}
      />
      {jobsBy === 'environment' ? (
        <DraftInput {...form} name="environment" label="Name of the environment" placeholder="production" required />
      ) : (
        <DraftInput {...form} name="branch" label="Name of the branch" required />
      )}
    </Group>
  )
}

function JenkinsFields(form: FieldsProps) {
  return (
    <SimpleGrid cols={{ base: 1, sm: 2 }}>
      <DraftInput
        {...form}
        name="jenkins"
        label="Address of Jenkins"
        description="The plugin OpenID Connect Provider signs the tokens"
        placeholder="https://jenkins.example.com"
        required
      />
      <DraftInput
        {...form}
        name="job"
        label="Job"
        description="With its folders, and its branch where it has several"
        placeholder="shop/main"
        required
      />
    </SimpleGrid>
  )
}

function OtherFields({ draft, change }: FieldsProps) {
  const { claims } = draft
  const changeClaim = (row: number, changed: Partial<Claim>) =>
    change({ claims: claims.map((claim) => (claim.row === row ? { ...claim, ...changed } : claim)) })
  const next = Math.max(-1, ...claims.map(({ row }) => row)) + 1
  return (
    <>
      <DraftInput
        draft={draft}
        change={change}
        name="issuer"
        label="Issuer"
        description="Exactly as in the claim iss of the tokens"
        placeholder="https://ci.example.com"
        required
      />
      <Stack gap="xs">
        {claims.map(({ row, name, value }, index) => (
          <Group key={row} align="flex-end">
            <TextInput
              label={`Claim ${index + 1}`}
              required
              value={name}
              onChange={(event) => changeClaim(row, { name: event.currentTarget.value })}
            />
            <TextInput
              flex={1}
              label={`Value ${index + 1}`}
              required
              value={value}
              onChange={(event) => changeClaim(row, { value: event.currentTarget.value })}
            />
            <Button
              variant="default"
              aria-label={`Remove claim ${index + 1}`}
              disabled={claims.length === 1}
              onClick={() => change({ claims: claims.filter((claim) => claim.row !== row) })}
            >
              Remove
            </Button>
          </Group>
        ))}
        <Group>
          <Button
            size="xs"
            variant="default"
            onClick={() => change({ claims: [...claims, { row: next, name: '', value: '' }] })}
          >
            Add a claim
          </Button>
          <Text size="sm">A value is literal, or ends in * for every text with that beginning.</Text>
        </Group>
      </Stack>
    </>
  )
}

/** What the server would demand of a token. */
function Summary({ draft }: { draft: TrustDraft }) {
  const { issuer, claims } = trustOf(draft)
  return (
    <Stack gap={2} component="section" aria-label="What a token must have">
      <Text size="sm">A token of this issuer needs all of these claims:</Text>
      <Code block>{[`iss: ${issuer}`, ...claimLines(claims)].join('\n')}</Code>
    </Stack>
  )
}

export const claimLines = (claims: Record<string, string>) =>
  Object.entries(claims).map(([name, value]) => `${name}: ${value}`)
