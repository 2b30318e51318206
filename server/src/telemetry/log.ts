import { type DestinationStream, destination as openDestination, pino } from 'pino'
import { describeError } from './describe-error.ts'
import { hideSecrets } from './hide-secrets.ts'

export type LogLevel = 'fatal' | 'error' | 'warn' | 'info' | 'debug' | 'trace' | 'silent'

/**
 * One line of JSON per event. Fields are names, numbers and ids; never the content of requests or answers. A failure
 * goes into the field `error`.
 */
export interface Log {
  fatal(fields: LogFields, message: string): void
  error(fields: LogFields, message: string): void
  warn(fields: LogFields, message: string): void
  info(fields: LogFields, message: string): void
  debug(fields: LogFields, message: string): void
  trace(fields: LogFields, message: string): void
  /** The same log with fields added to each of its lines. */
  child(fields: LogFields): Log
}

export type LogFields = Readonly<Record<string, unknown>>

export interface LogSettings {
  readonly level: LogLevel
  /** Epoch ms. */
  readonly now: () => number
  readonly version: string
  /** Destination of the lines; absent: standard error, since standard output is reserved for the ready line. */
  readonly destination?: DestinationStream
}

/** Field names whose values never reach a line, wherever a caller put them. */
const FORBIDDEN = ['authorization', 'cookie', 'headers', 'body', 'secret', 'password', 'apiKey'] as const
const STDERR = 2

export function createLog(settings: LogSettings): { readonly log: Log; readonly flush: () => Promise<void> } {
  const stream = settings.destination ?? openDestination({ dest: STDERR, sync: false })
  const log = pino(
    {
      level: settings.level,
      base: { version: settings.version },
      messageKey: 'message',
      errorKey: 'error',
      timestamp: () => `,"time":"${new Date(settings.now()).toISOString()}"`,
      formatters: { level: (level) => ({ level }) },
      serializers: { error: describeError },
      redact: { paths: FORBIDDEN.flatMap((name) => [name, `*.${name}`]), censor: '[secret]' },
      hooks: { streamWrite: hideSecrets },
    },
    stream,
  )
  return {
    log,
    flush: () =>
      new Promise((resolve, reject) => {
        log.flush((error) => {
          if (error === undefined || error === null) resolve()
          else reject(error)
        })
      }),
  }
}
