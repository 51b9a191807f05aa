/** A timestamp as the interface writes it. */
export const isoTime = (column: string) => `to_char(${column} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`

export const milliseconds = (from: string, to: string) => `round(extract(epoch FROM ${to} - ${from}) * 1000)::bigint`

/** Postgres builds the object, and it goes out as the text that it is. */
export const jsonObject = (fields: Record<string, string>) =>
  `json_build_object(${Object.entries(fields)
    .map(([name, expression]) => `'${name}', ${expression}`)
    .join(', ')})`
