import { Anchor, Group, Paper, Stack, Text } from '@mantine/core'
import type { Schema } from '@slipway/client'
import { Link } from '@tanstack/react-router'
import { counted } from '../../components/counted.ts'
import { StateBadge } from '../../components/state-badge.tsx'
import { TargetNames } from '../../components/target-names.tsx'
import { TimeAgo } from '../../components/time-ago.tsx'
import { Difference } from './difference.tsx'

type Replacement = Schema<'Replacement'>

interface Props {
  replaces: readonly Replacement[]
  /** The version of the source that takes their place. */
  version: string
}

/** Each target may have another deployment in force. */
const MAX_GROUPS = 50

const isUnchanged = ({ unchanged_count, target_count }: Replacement) => unchanged_count === target_count

/** What a deployment replaces: a group of targets for each deployment that is in force on some of them. */
export function Replacements({ replaces, version }: Props) {
  const changedFirst = replaces.toSorted((a, b) => Number(isUnchanged(a)) - Number(isUnchanged(b)))
  const others = changedFirst.slice(MAX_GROUPS)
  return (
    <Stack gap="xs">
      {changedFirst.slice(0, MAX_GROUPS).map((replacement) => (
        <Paper
          key={replacement.deployment_id}
          withBorder
          p="sm"
          component="section"
          aria-label={`${versionOf(replacement)} → ${version}`}
        >
          <Stack gap={6}>
            <Head replacement={replacement} version={version} />
            <Targets replacement={replacement} />
            <Changes replacement={replacement} />
          </Stack>
        </Paper>
      ))}
      {others.length > 0 && (
        <Text size="sm">
          {counted(others.length, 'more group')} with {counted(sum(others), 'target')}
        </Text>
      )}
    </Stack>
  )
}

const sum = (groups: readonly Replacement[]) => groups.reduce((total, { target_count }) => total + target_count, 0)

/** The version in force before. Retention may have deleted it. */
const versionOf = ({ deployment_id, version }: Replacement) =>
  deployment_id === null ? 'Nothing' : (version ?? 'Unknown version')

function Head({ replacement, version }: { replacement: Replacement; version: string }) {
  const { deployment_id, applied_at, applied_by, target_count, unchanged_count } = replacement
  return (
    <Group gap="xs">
      <Text>
        <b>{versionOf(replacement)}</b> on {counted(target_count, 'target')} → <b>{version}</b>
      </Text>
      {unchanged_count > 0 && (
        <StateBadge
          state="skipped"
          label={isUnchanged(replacement) ? 'unchanged' : `${unchanged_count.toLocaleString()} unchanged`}
        />
      )}
      {deployment_id !== null && (
        <Text size="sm">
          <Anchor component={Link} to={`/deployments/${deployment_id}`} size="sm">
            {applied_at === null ? 'its deployment' : <TimeAgo at={applied_at} />}
          </Anchor>
          {applied_by !== null && ` by ${applied_by}`}
        </Text>
      )}
    </Group>
  )
}

const MAX_NAMED = 10

function Targets({ replacement: { targets: all, target_count } }: { replacement: Replacement }) {
  return (
    <Text size="sm">
      <TargetNames targets={all.slice(0, MAX_NAMED)} count={target_count} />
    </Text>
  )
}

function Changes({ replacement }: { replacement: Replacement }) {
  const { deployment_id, difference } = replacement
  if (deployment_id === null || isUnchanged(replacement)) return null
  if (difference === null) {
    return (
      <Text size="sm">
        The difference is not known: that deployment is not stored any more, or there are too many to compare.
      </Text>
    )
  }
  if (difference.versions.length === 0 && difference.variables.length === 0) {
    return <Text size="sm">Versions and shared values are the same. A secret or a value of a target may differ.</Text>
  }
  return <Difference difference={difference} />
}
