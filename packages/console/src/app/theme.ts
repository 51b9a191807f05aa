import { type CSSVariablesResolver, createTheme } from '@mantine/core'

export const theme = createTheme({
  primaryColor: 'blue',
  primaryShade: { light: 8, dark: 8 },
  defaultRadius: 'sm',
  respectReducedMotion: true,
  fontFamilyMonospace: 'ui-monospace, SFMono-Regular, Menlo, Consolas, monospace',
  components: {
    // Mantine's yellow and orange titles are too pale for WCAG AA.
    Alert: { styles: { title: { color: 'var(--mantine-color-text)' } } },
    // Told from the text around them without their colour.
    Anchor: { defaultProps: { underline: 'always' } },
    Modal: { defaultProps: { closeButtonProps: { 'aria-label': 'Close' } } },
    NavLink: { defaultProps: { variant: 'filled' } },
    Table: { defaultProps: { highlightOnHover: true, verticalSpacing: 6 } },
    Tooltip: { defaultProps: { openDelay: 300 } },
  },
})

/** Mantine's secondary text, and its texts of errors, are too pale for WCAG AA. */
export const readableColours: CSSVariablesResolver = () => ({
  variables: {},
  light: {
    '--mantine-color-error': '#c92a2a',
    '--mantine-color-dimmed': '#545b62',
    '--mantine-color-placeholder': '#5c636a',
  },
  dark: {
    '--mantine-color-error': '#ff8787',
    '--mantine-color-dimmed': '#b4bac0',
    '--mantine-color-placeholder': '#a6adb4',
  },
})
