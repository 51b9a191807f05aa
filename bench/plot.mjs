// How far from its goal each figure is, as an SVG: logarithmic, the goal in the middle, better to the right.
const ROW = 24
const LEFT = 400
const WIDTH = 420
const TOP = 46
/** Beyond this factor a figure is drawn at the edge. */
const EDGE = 32

const escaped = (text) => text.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;')
const short = (text) => (text.length > 58 ? `${text.slice(0, 57)}…` : text)

/** Where a factor lies: 1 is the goal; above is better. */
function place(factor) {
  const bounded = Math.min(EDGE, Math.max(1 / EDGE, factor))
  return LEFT + (WIDTH * (Math.log(bounded) + Math.log(EDGE))) / (2 * Math.log(EDGE))
}

/** How often better than its goal a figure is. */
function better(value, limit) {
  const [sign, bound] = limit.split(' ')
  // What takes nothing at all is as good as can be drawn.
  if (value <= 0) return sign === '≤' ? EDGE : 1 / EDGE
  return sign === '≥' ? value / Number(bound) : Number(bound) / value
}

function row({ goal, what, ratio, spread, limit, met }, index) {
  const y = TOP + index * ROW
  const middle = y + ROW / 2
  const [from, to] =
    spread
      ?.match(/^(.+?)–(.+)$/)
      ?.slice(1)
      .map((end) => place(better(Number(end), limit))) ?? []
  const x = place(better(ratio, limit))
  const zero = place(1)
  const color = met ? '#2a7d4f' : '#b3402e'
  const whisker =
    from === undefined || Number.isNaN(from + to) ? '' : `<path d="M${from} ${middle}H${to}" stroke="#222"/>`
  // A ratio of 1 is the floor or peer itself.
  const peer = what.includes(', of ')
    ? `<path d="M${place(better(1, limit))} ${y + 3}v${ROW - 6}" stroke="#3b5bdb" stroke-width="3"/>`
    : ''
  return `<text x="${LEFT - 10}" y="${middle + 4}" text-anchor="end">${escaped(short(`${goal}  ${what}`))}</text>
<rect x="${Math.min(x, zero)}" y="${y + 5}" width="${Math.max(2, Math.abs(x - zero))}" height="${ROW - 10}" fill="${color}"/>
${peer}${whisker}
<text x="${LEFT + WIDTH + 10}" y="${middle + 4}">${escaped(`${ratio} (${limit})`)}</text>`
}

export function plot(goals) {
  const height = TOP + goals.length * ROW + 12
  const ticks = [1 / 32, 1 / 8, 1 / 2, 2, 8, 32].map((factor) => {
    const label = factor < 1 ? `1/${1 / factor}` : `${factor}×`
    return `<path d="M${place(factor)} ${TOP - 4}V${height - 8}" stroke="#ddd"/><text x="${place(factor)}" y="${TOP - 10}" text-anchor="middle" fill="#666">${label}</text>`
  })
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${LEFT + WIDTH + 170} ${height}" font-family="sans-serif" font-size="12" role="img">
<title>How far from its goal each figure is</title>
<rect width="100%" height="100%" fill="#fff"/>
<text x="10" y="18">Better than its goal to the right (green), worse to the left (red); blue: the floor or peer; line: from round to round</text>
${ticks.join('\n')}
${goals.map(row).join('\n')}
<path d="M${place(1)} ${TOP - 4}V${height - 8}" stroke="#222" stroke-width="1.5"/>
<text x="${place(1)}" y="${TOP - 10}" text-anchor="middle">goal</text>
</svg>
`
}
