import type { StoredLine } from '@slipway/contracts'
import {
  array,
  int4,
  int8,
  jsonb,
  nullable,
  present,
  rowSet,
  statement,
  text,
  timestamptz,
  uuid,
} from '@slipway/database'

/** The parameters of `FROM_LINE` but the line, and the row of `findSpan`. */
export const span = { from: nullable(timestamptz), to: nullable(timestamptz) }

/**
 * SQL: the period in which the lines of a deployment were stored, with a day more on both sides. The clock may have been set, and
 * the last lines may arrive after the end.
 */
export const findSpan = statement({
  name: 'gateway.history.find-span',
  parameters: { id: uuid },
  row: span,
  sql: `SELECT created_at - interval '1 day' AS "from", completed_at + interval '1 day' AS "to"
      FROM deployments WHERE id = :id`,
})

/** The period limits the query to the partitions of these days (goal: history page at any offset). */
export const WITHIN = `deployment_id = :id AND created_at >= :from AND created_at < coalesce(:to::timestamptz, 'infinity')`

/** The number of the first stored line, and of the line after the last one. */
export const findEnds = statement({
  name: 'gateway.history.find-ends',
  parameters: { id: uuid, ...span },
  row: { first: nullable(int8), end: nullable(int8) },
  sql: `SELECT (SELECT first_line FROM log_chunks WHERE ${WITHIN} ORDER BY first_line LIMIT 1) AS "first",
           (SELECT first_line + line_count FROM log_chunks WHERE ${WITHIN} ORDER BY first_line DESC LIMIT 1) AS "end"`,
})

/** SQL: from the chunk with the line `:line` on. */
export const FROM_LINE = `${WITHIN} AND first_line >= coalesce((
         SELECT first_line FROM log_chunks WHERE ${WITHIN} AND first_line <= :line ORDER BY first_line DESC LIMIT 1), 0)`

/** The lines from a number on, taken from the chunk of the first line and the following chunks. */
export const findLines = statement({
  name: 'gateway.history.find-lines',
  parameters: { id: uuid, ...span, line: int8, limit: int8 },
  row: { first_line: int8, lines: jsonb<StoredLine[]>() },
  sql: `SELECT greatest(first_line, :line) AS first_line,
           jsonb_path_query_array(lines, '$[$from to $to]', jsonb_build_object(
             'from', least(greatest(:line - first_line, 0), line_count),
             'to', least(:line + :limit::bigint - 1 - first_line, line_count))) AS lines
      FROM log_chunks
     WHERE ${FROM_LINE} AND first_line < :line + :limit
     ORDER BY first_line`,
})

export const findLineTargets = statement({
  name: 'gateway.history.find-targets',
  parameters: { id: uuid, indices: array(int4) },
  row: { target_index: int4, target_id: uuid, target_name: text },
  sql: `SELECT target_index, target_id, target_name FROM deployment_targets
     WHERE deployment_id = :id AND target_index = ANY (:indices)`,
})

export const findAnalyses = statement({
  name: 'gateway.history.find-analyses',
  parameters: { id: uuid, steps: rowSet({ target_index: int4, action_index: int4 }) },
  row: { place: text, analysis: present(jsonb<object>()) },
  sql: `SELECT r.target_index || '/' || r.action_index AS place, r.analysis
      FROM command_results r
      JOIN :steps AS p USING (target_index, action_index)
     WHERE r.deployment_id = :id AND r.analysis IS NOT NULL`,
})
