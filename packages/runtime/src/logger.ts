import winston from 'winston'
import { currentContext } from './context.ts'
import { loggable, loggableField, redactText } from './redaction.ts'
import type { LogLevel } from './variables.ts'

type Fields = Record<string, unknown>
type Write = (message: string, fields?: Fields) => void

/** Writes one JSON object per line. Fields may hold errors. Fields that look like secrets are redacted. */
export interface Logger {
  error: Write
  warn: Write
  info: Write
  debug: Write
  /** A logger that adds these fields to each line. */
  child(fields: Fields): Logger
}

interface LoggerOptions {
  service: string
  level?: LogLevel
  /** Standard output by default. */
  stream?: NodeJS.WritableStream
}

const RESERVED = new Set(['timestamp', 'level', 'service', 'message'])

/** Creates the logger of a service. Each line has the fields of the current context (see withContext). */
export function createLogger(options: LoggerOptions): Logger {
  const sink = winston.createLogger({
    level: options.level ?? 'info',
    levels: { error: 0, warn: 1, info: 2, debug: 3 },
    format: winston.format.printf((entry) => String(entry['line'])),
    transports: [new winston.transports.Stream({ stream: options.stream ?? process.stdout })],
  })
  return bound(sink, options.service, {})
}

function bound(sink: winston.Logger, service: string, own: Fields): Logger {
  const at = (level: LogLevel): Write => {
    return (message, fields) => {
      if (sink.isLevelEnabled(level)) {
        const line = render(level, service, message, [currentContext(), own, fields ?? {}])
        sink.log({ level, message: '', line })
      }
    }
  }
  return {
    error: at('error'),
    warn: at('warn'),
    info: at('info'),
    debug: at('debug'),
    child: (fields) => bound(sink, service, { ...own, ...fields }),
  }
}

function render(level: LogLevel, service: string, message: string, layers: Fields[]): string {
  const line: Fields = { timestamp: new Date().toISOString(), level, service, message: redactText(String(message)) }
  for (const layer of layers) {
    for (const [key, value] of Object.entries(layer)) line[RESERVED.has(key) ? `${key}_` : key] = field(key, value)
  }
  return JSON.stringify(line)
}

/** A field with a throwing getter must not lose the log line or end the process. */
function field(key: string, value: unknown): unknown {
  try {
    return loggableField(key, value)
  } catch (error) {
    return `[unreadable: ${String(loggable(error instanceof Error ? error.message : error))}]`
  }
}
