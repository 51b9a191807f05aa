import type { StoredLine } from '@slipway/contracts'
import { array, int4, int8, jsonb, nullable, statement, text, uuid } from '@slipway/database'
import { FROM_LINE, span, WITHIN } from './history.sql.ts'

/** SQL: the text as people read it, without the codes of its colours. */
const READABLE = `CASE WHEN strpos(line->>'m', E'\\x1b') = 0 THEN line->>'m'
            ELSE regexp_replace(line->>'m', E'\\x1b\\\\[[0-9;:]*m', '', 'g') END`

const part = {
  parameters: {
    id: uuid,
    ...span,
    line: int8,
    chunks: int8,
    limit: int8,
    targets: nullable(array(int4)),
    actions: nullable(array(int4)),
    level: nullable(text),
    stream: nullable(text),
    search: nullable(text),
  },
  row: { reached: nullable(int8), found: jsonb<(StoredLine & { number: number })[]>() },
}

/** SQL: the lines of the chunks `near`, with their numbers. */
const LINES = `SELECT first_line + place - 1 AS number, line
        FROM near, jsonb_array_elements(lines) WITH ORDINALITY AS element (line, place)`

const MATCHES = `(:targets::int[] IS NULL OR (line->>'i')::int = ANY (:targets))
         AND (:actions::int[] IS NULL OR (line->>'a')::int = ANY (:actions))
         AND (:level::text IS NULL OR line->>'l' = :level)
         AND (:stream::text IS NULL OR line->>'s' = :stream)
         AND (:search::text IS NULL OR strpos(lower(${READABLE}), (SELECT lower(:search::text))) > 0)`

const FOUND = `(SELECT coalesce(jsonb_agg(line || jsonb_build_object('number', number) ORDER BY number), '[]') FROM found)`

/**
 * The matching lines from a number on, at most `limit`, in a few chunks: a chunk has up to 2,000 lines and 1 MiB, so their number
 * bounds the time. `reached` is the number after the last line of these chunks, null without chunks.
 */
export const searchLines = statement({
  name: 'gateway.history.search-lines',
  ...part,
  sql: `WITH near AS (
      SELECT first_line, line_count, lines FROM log_chunks WHERE ${FROM_LINE} ORDER BY first_line LIMIT :chunks),
    found AS (${LINES} WHERE first_line + place > :line AND ${MATCHES} ORDER BY number LIMIT :limit)
    SELECT (SELECT max(first_line + line_count) FROM near) AS reached, ${FOUND} AS found`,
})

/** The same backward: the last matching lines before a number. `reached` is the number of the first line of these chunks. */
export const searchLinesBefore = statement({
  name: 'gateway.history.search-lines-before',
  ...part,
  sql: `WITH near AS (
      SELECT first_line, line_count, lines FROM log_chunks WHERE ${WITHIN} AND first_line < :line
       ORDER BY first_line DESC LIMIT :chunks),
    found AS (${LINES} WHERE first_line + place <= :line AND ${MATCHES} ORDER BY number DESC LIMIT :limit)
    SELECT (SELECT min(first_line) FROM near) AS reached, ${FOUND} AS found`,
})

/** The places of a target in the plan. */
export const findTargetPlaces = statement({
  name: 'gateway.history.find-target-places',
  parameters: { id: uuid, target: nullable(uuid), number: nullable(int4) },
  row: { target_index: int4 },
  sql: `SELECT target_index FROM deployment_targets
     WHERE deployment_id = :id AND target_id = coalesce(:target::uuid, (SELECT id FROM targets WHERE number = :number))`,
})

/** The places of an action in the plan. */
export const findActionPlaces = statement({
  name: 'gateway.history.find-action-places',
  parameters: { id: uuid, action: nullable(uuid), number: nullable(int4) },
  row: { action_index: int4 },
  sql: `SELECT action_index FROM deployment_actions
     WHERE deployment_id = :id AND action_id = coalesce(:action::uuid, (SELECT id FROM sources WHERE number = :number))`,
})

/** The place of a step, among these places. The id of a step is computed, so this computes those of the plan until it has found it. */
export const findStepPlace = statement({
  name: 'gateway.history.find-step-place',
  parameters: { id: uuid, step: uuid, targets: nullable(array(int4)), actions: nullable(array(int4)) },
  row: { target_index: int4, action_index: int4 },
  sql: `SELECT target_index, action_index
      FROM deployment_targets JOIN deployment_actions USING (deployment_id)
     WHERE deployment_id = :id
       AND (:targets::int[] IS NULL OR target_index = ANY (:targets))
       AND (:actions::int[] IS NULL OR action_index = ANY (:actions))
       AND step_id(deployment_id, target_index, action_index) = :step
     LIMIT 1`,
})
