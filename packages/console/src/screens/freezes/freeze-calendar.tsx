import { Box, Stack, Table, Text, Title } from '@mantine/core'
import { type Freeze, formatWindow, isOpen, type Window, windowsOf } from './windows.ts'
import { BROWSER_ZONE } from './zones.ts'

const DAYS = 14
const weekday = new Intl.DateTimeFormat('en', { weekday: 'short' })
const date = new Intl.DateTimeFormat('en', { day: 'numeric', month: 'short' })

/** The midnights in the browser's zone that begin and end the days. */
function midnightsFrom(now: number): number[] {
  const today = new Date(now)
  return Array.from({ length: DAYS + 1 }, (_, day) =>
    new Date(today.getFullYear(), today.getMonth(), today.getDate() + day).getTime(),
  )
}

/** Where a moment stands between the first midnight (0) and the last one (1). Every day is equally wide. */
function placeOf(moment: number, midnights: number[]): number {
  const day = midnights.findLastIndex((midnight) => midnight <= moment)
  const [start, end] = [midnights[day], midnights[day + 1]]
  if (start === undefined) return 0
  return end === undefined ? 1 : (day + (moment - start) / (end - start)) / DAYS
}

/** The windows of the next 14 days: one row for each freeze, one column for each day. */
export function FreezeCalendar({ freezes, now }: { freezes: Freeze[]; now: number }) {
  const midnights = midnightsFrom(now)
  const last = midnights.at(-1) ?? now
  const rows = freezes
    .map((freeze) => ({ freeze, windows: windowsOf(freeze).filter(({ start }) => start < last) }))
    .filter(({ windows }) => windows.length > 0)
    .sort((a, b) => (a.windows[0]?.start ?? 0) - (b.windows[0]?.start ?? 0))
  return (
    <Stack component="section" gap={4} aria-label="Next 14 days">
      <Title order={2} size="h5">
        Next 14 days
      </Title>
      <Text size="xs">Times are in the zone of this browser, {BROWSER_ZONE}.</Text>
      {rows.length === 0 ? (
        <Text size="sm">No freeze has a window in these days.</Text>
      ) : (
        // The keyboard scrolls it, because nothing inside of it takes the focus.
        <Table.ScrollContainer minWidth={900} scrollAreaProps={{ viewportProps: { tabIndex: 0 } }}>
          <Table layout="fixed" withColumnBorders highlightOnHover={false}>
            <Table.Thead>
              <Table.Tr>
                <Table.Th w={180}>Freeze</Table.Th>
                {midnights.slice(0, DAYS).map((midnight) => (
                  <Table.Th key={midnight} ta="center" px={2}>
                    <Text size="xs" fw={600}>
                      {weekday.format(midnight)}
                    </Text>
                    <Text size="xs">{date.format(midnight)}</Text>
                  </Table.Th>
                ))}
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {rows.map(({ freeze, windows }) => (
                <Table.Tr key={freeze.id}>
                  <Table.Th scope="row">
                    <Text size="sm" fw={600} truncate title={freeze.name}>
                      {freeze.name}
                    </Text>
                  </Table.Th>
                  <Table.Td colSpan={DAYS} p={0}>
                    <Bars windows={windows} midnights={midnights} now={now} />
                  </Table.Td>
                </Table.Tr>
              ))}
            </Table.Tbody>
          </Table>
        </Table.ScrollContainer>
      )}
    </Stack>
  )
}

const percent = (share: number) => `${(share * 100).toFixed(3)}%`

function Bars({ windows, midnights, now }: { windows: Window[]; midnights: number[]; now: number }) {
  return (
    <Box pos="relative" h={32}>
      {midnights.slice(1, DAYS).map((midnight) => (
        <Box
          key={midnight}
          pos="absolute"
          left={percent(placeOf(midnight, midnights))}
          h="100%"
          style={{ borderLeft: '1px solid var(--table-border-color)' }}
        />
      ))}
      {windows.map((window) => {
        const [left, right] = [placeOf(window.start, midnights), placeOf(window.end, midnights)]
        const isInForce = isOpen(window, now)
        const label = `${isInForce ? 'In force: ' : ''}${formatWindow(window)}`
        return (
          <Box
            key={window.start}
            role="img"
            aria-label={label}
            title={label}
            pos="absolute"
            top={7}
            h={18}
            miw={4}
            left={percent(left)}
            w={percent(right - left)}
            bg={isInForce ? '#a8460b' : 'blue.8'}
            style={{ borderRadius: 3 }}
          />
        )
      })}
      <Box
        pos="absolute"
        left={percent(placeOf(now, midnights))}
        h="100%"
        aria-hidden
        style={{ borderLeft: '2px solid var(--mantine-color-text)' }}
      />
    </Box>
  )
}
