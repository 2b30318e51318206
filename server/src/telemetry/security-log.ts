/**
 * Security events: one line of JSON per event, with a stable name. They go to the log, or to a separate file, which is
 * opened again for every write, so that it can be rotated at any time and shared by several processes.
 */
import { appendFile } from 'node:fs/promises'
import { hideSecrets } from './hide-secrets.ts'
import type { Log } from './log.ts'

/** Every name, with its meaning: `docs/operating/security.md` has the same list. */
export const SECURITY_EVENTS = {
  'sign-in.succeeded': 'somebody signed in; `method` says how, `second_factor` whether one was shown',
  'sign-in.failed': 'a password, a code or a sign-in through another service was not right',
  'sign-in.limited': 'a sign-in was refused without checking it: too many attempts before it',
  'second-factor.failed': 'a second factor was not right',
  'second-factor.limited': 'a second factor was refused without checking it: too many attempts before it',
  'second-factor.missing': 'an administrator without a second factor was refused',
  'code.limited': 'a code was not sent: too many were requested',
  'message.budget': 'text messages reached 80 % of what is allowed in a day or month, or all of it',
  'message.refused': 'a text message was not sent: its country, its kind of number, or the budget',
  'registration.refused': 'an account was not created: registration is closed, or needs an invitation',
  'request.limited': 'a request was refused after too many attempts (429/42908)',
  'csrf.refused': 'a request that another site made a browser send was refused',
  'key.address-refused': 'an API key was used from an address it does not allow',
  'webhook.forged': 'a payment webhook was not signed by its provider',
  'address.refused': 'an address a client or customer chose led into a closed network (SSRF)',
  'impersonation.begun': 'an administrator began to impersonate an account',
  'impersonation.ended': 'an administrator ended an impersonation early',
  'secret.shown': 'a secret was shown to its owner: a key, a webhook’s secret, a seed, recovery codes',
  'audit.entry': 'something was changed; the audit log has the whole entry',
} as const satisfies Readonly<Record<string, string>>

export type SecurityEvent = keyof typeof SECURITY_EVENTS

/** Ids, addresses and fixed words. Never text that a person typed: people type passwords into the wrong field. */
export type SecurityFields = Readonly<Record<string, string | number | boolean | undefined>>

export interface SecurityLog {
  note(event: SecurityEvent, fields: SecurityFields): void
  /** Waits until everything is written. */
  close(): Promise<void>
}

export interface SecurityLogSettings {
  readonly log: Log
  /** Epoch ms. */
  readonly now: () => number
  /** Absolute; undefined: the log. */
  readonly file: string | undefined
  readonly counted: (event: SecurityEvent) => void
  /** Replaces the file system in tests. */
  readonly append?: (file: string, text: string) => Promise<void>
}

/** A flood of refusals must not fill a disk: more lines than this per second are counted, not written. */
const LINES_PER_SECOND = 200
/** Lines kept until the disk works again; more are counted as lost. */
const WAITING_MAX = 10_000
const VALUE_CHARACTERS_MAX = 256

const QUIET: readonly SecurityEvent[] = [
  'sign-in.succeeded',
  'impersonation.ended',
  'secret.shown',
  'audit.entry',
]

export function createSecurityLog({
  log,
  now,
  file,
  counted,
  append = appendPrivate,
}: SecurityLogSettings): SecurityLog {
  const flood = createFlood()
  const writer = file === undefined ? undefined : createFileWriter(file, { log, append })
  const write = (event: SecurityEvent | 'log.suppressed', fields: SecurityFields): void => {
    if (writer === undefined) {
      const level = QUIET.some((quiet) => quiet === event) ? 'info' : 'warn'
      log[level]({ event, ...bounded(fields) }, 'security event')
      return
    }
    writer.add(
      hideSecrets(`${JSON.stringify({ time: new Date(now()).toISOString(), event, ...bounded(fields) })}\n`),
    )
  }
  return {
    note(event, fields) {
      counted(event)
      const second = Math.floor(now() / 1_000)
      const { suppressed, isWritten } = flood(second)
      if (suppressed > 0) write('log.suppressed', { count: suppressed })
      if (isWritten) write(event, fields)
    },
    close: async () => writer?.drained(),
  }
}

/** `suppressed`: how many were left out in the seconds before, reported once. */
function createFlood(): (second: number) => { readonly suppressed: number; readonly isWritten: boolean } {
  let current = 0
  let written = 0
  let left = 0
  return (second) => {
    let suppressed = 0
    if (second !== current) {
      current = second
      suppressed = left
      written = 0
      left = 0
    }
    const isWritten = written < LINES_PER_SECOND
    if (isWritten) written += 1
    else left += 1
    return { suppressed, isWritten }
  }
}

function createFileWriter(
  file: string,
  { log, append }: { readonly log: Log; readonly append: (file: string, text: string) => Promise<void> },
) {
  let waiting: string[] = []
  let lost = 0
  let running: Promise<void> | undefined
  const run = async (): Promise<void> => {
    while (waiting.length > 0) {
      const lines = waiting
      waiting = []
      try {
        await append(file, lines.join(''))
      } catch (error) {
        // One attempt per batch: the log records the loss, and the next event tries the file again.
        log.error({ error, lines: lines.length }, 'security events could not be written to their file')
      }
    }
    running = undefined
  }
  return {
    add(line: string): void {
      if (waiting.length >= WAITING_MAX) {
        lost += 1
        if (lost % WAITING_MAX === 1)
          log.error(
            { lost },
            'too many security events wait to be written to their file: newer ones are left out',
          )
        return
      }
      waiting.push(line)
      running ??= run()
    },
    drained: async () => running,
  }
}

function appendPrivate(file: string, text: string): Promise<void> {
  return appendFile(file, text, { mode: 0o600 })
}

function bounded(fields: SecurityFields): SecurityFields {
  return Object.fromEntries(
    Object.entries(fields).flatMap(([name, value]) => {
      if (value === undefined) return []
      return [[name, typeof value === 'string' ? value.slice(0, VALUE_CHARACTERS_MAX) : value]]
    }),
  )
}
