// Tables of the generated pages.

const LONGEST = 60

/** What is longer, such as a list of algorithms, shows how it begins. */
export function code(value) {
  const text = String(value).replaceAll('|', '\\|')
  return text.length > LONGEST ? `\`${text.slice(0, LONGEST)}\`…` : `\`${text}\``
}

/** The first line is the head. */
export function table(lines) {
  const widths = lines[0].map((_, column) => Math.max(...lines.map((line) => line[column].length), 3))
  const render = (line) => `| ${line.map((cell, column) => cell.padEnd(widths[column])).join(' | ')} |`
  const [head, ...rest] = lines
  return [render(head), render(widths.map((width) => '-'.repeat(width))), ...rest.map(render)].join('\n')
}
