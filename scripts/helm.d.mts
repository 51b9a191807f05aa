export const chartFolder: string
export function findHelm(): string
export function renderChart(...args: string[]): string
