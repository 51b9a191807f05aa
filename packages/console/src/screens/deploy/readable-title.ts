/** The text colour for the title of an alert. Mantine's yellow and orange titles are too pale for WCAG AA. */
export const READABLE_TITLE = { title: { color: 'var(--mantine-color-text)' } }
