/** SQL: a timestamp in the format of the API. */
export const isoTime = (column: string) => `to_char(${column} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`

export const milliseconds = (from: string, to: string) => `round(extract(epoch FROM ${to} - ${from}) * 1000)::bigint`

/** SQL: a JSON object of these fields and expressions. */
export const jsonObject = (fields: Record<string, string>) =>
  `json_build_object(${Object.entries(fields)
    .map(([name, expression]) => `'${name}', ${expression}`)
    .join(', ')})`
