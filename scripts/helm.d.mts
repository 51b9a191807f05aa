export const chartFolder: string
export function findHelm(): string
export function renderChart(chart: string, ...args: string[]): string
