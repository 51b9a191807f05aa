import { Anchor, List, Table, Text } from '@mantine/core'
import type { Schema } from '@slipway/client'
import { Link } from '@tanstack/react-router'
import { useMemo } from 'react'

type Step = Schema<'Step'>

/** More rows help nobody to decide, and slow the page. */
const MAX_TARGETS = 100

/** The steps of each target, in the order in which they run. */
export function PlanSteps({ steps, targetCount }: { steps: readonly Step[]; targetCount: number }) {
  const targets = useMemo(() => [...Map.groupBy(steps, ({ target_id }) => target_id)].slice(0, MAX_TARGETS), [steps])
  return (
    <>
      <Table.ScrollContainer minWidth={400}>
        <Table aria-label="Steps by target" verticalSpacing="xs">
          <Table.Thead>
            <Table.Tr>
              <Table.Th>Target</Table.Th>
              <Table.Th>Steps</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {targets.map(([id, own]) => (
              <Table.Tr key={id} style={{ verticalAlign: 'top' }}>
                <Table.Td>
                  <Anchor component={Link} size="sm" to={`/targets/${id}`}>
                    {own[0]?.target_name}
                  </Anchor>
                </Table.Td>
                <Table.Td>
                  <List type="ordered" size="sm">
                    {own.map((step) => (
                      <List.Item key={step.id}>{stepName(step)}</List.Item>
                    ))}
                  </List>
                </Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
      {targetCount > targets.length && (
        <Text size="sm">
          These are the first {targets.length} of {targetCount.toLocaleString()} targets. The others have the same
          steps.
        </Text>
      )}
    </>
  )
}

/** A single action has a sequence with its own name, which says nothing. */
const stepName = ({ sequence_id, sequence_name, action_id, action_name, action_version }: Step) =>
  `${sequence_id === action_id ? '' : `${sequence_name} › `}${action_name} ${action_version}`
