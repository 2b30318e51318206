import type { Finding } from './finding.ts'

/** What a running gateway checks; the names are those of `sluice doctor`. */
export const RUNNING_CHECKS = [
  'node',
  'data directory',
  'secret key',
  'disk',
  'unsettled calls',
  'security log',
  'stored files',
  'mail',
  'phone messages',
  'vendors',
  'currencies',
  'stream usage',
  'surcharges',
] as const
export type RunningCheck = (typeof RUNNING_CHECKS)[number]

interface Sentences {
  readonly check: RunningCheck
  readonly state: Finding['state']
  /** In English, with `{name}` for inserted values; consoles translate it by its code. */
  readonly found: string
  /** What to do. Absent: nothing. */
  readonly fix?: string
}

const OWNED = 'run as the user that owns it, or give it to this one (chown)'
const ROOM = 'make room, or move the data directory to a larger disk'
const LOG_PLACE = 'set SLUICE_SECURITY_LOG to a file in a directory that this user may write'
const BLOBS_NEEDED = 'only stored videos need it'

const SENTENCES = {
  'node-good': { check: 'node', state: 'ok', found: '{version}' },
  'node-old': {
    check: 'node',
    state: 'failed',
    found: '{version}',
    fix: 'install Node {least} or newer',
  },
  'directory-good': { check: 'data directory', state: 'ok', found: '{directory}' },
  'directory-to-come': {
    check: 'data directory',
    state: 'ok',
    found: '{directory} will be created when Sluice starts',
  },
  'directory-missing': {
    check: 'data directory',
    state: 'failed',
    found: '{directory} is not there',
    fix: 'start Sluice once, or set SLUICE_DATA_DIR to where it keeps its data',
  },
  'directory-unwritable': {
    check: 'data directory',
    state: 'failed',
    found: '{directory} cannot be written by this user',
    fix: OWNED,
  },
  'directory-open': {
    check: 'data directory',
    state: 'warning',
    found: '{directory} is open to other users ({mode})',
    fix: 'chmod 700 {directory}',
  },
  'key-given': { check: 'secret key', state: 'ok', found: 'SLUICE_SECRET_KEY' },
  'key-good': { check: 'secret key', state: 'ok', found: '{file}' },
  'key-missing': {
    check: 'secret key',
    state: 'failed',
    found: '{file} is not there',
    fix: 'put back the one this database was made with, or set SLUICE_SECRET_KEY',
  },
  'key-open': {
    check: 'secret key',
    state: 'failed',
    found: '{file} is open to other users ({mode})',
    fix: 'chmod 600 {file}',
  },
  'key-unreadable': { check: 'secret key', state: 'failed', found: '{words}', fix: '{remedy}' },
  'disk-good': { check: 'disk', state: 'ok', found: '{gib} GiB free' },
  'disk-scarce': { check: 'disk', state: 'warning', found: '{gib} GiB free', fix: ROOM },
  'disk-full': { check: 'disk', state: 'failed', found: '{gib} GiB free', fix: ROOM },
  'unsettled-none': { check: 'unsettled calls', state: 'ok', found: 'none' },
  'unsettled-waiting': {
    check: 'unsettled calls',
    state: 'warning',
    found: 'waiting for the database: {files}',
    fix: 'start Sluice on this data directory, and never delete it: what it holds was delivered and is not billed yet',
  },
  'unsettled-aside': {
    check: 'unsettled calls',
    state: 'warning',
    found: 'lines that could not be settled: {files}',
    fix: 'see docs/operating/outages.md for what to do with them',
  },
  'security-log-shared': { check: 'security log', state: 'ok', found: 'in the log' },
  'security-log-good': { check: 'security log', state: 'ok', found: '{file}' },
  'security-log-no-file': {
    check: 'security log',
    state: 'failed',
    found: '{file} is not a file',
    fix: LOG_PLACE,
  },
  'security-log-missing': {
    check: 'security log',
    state: 'failed',
    found: '{file} is not there',
    fix: LOG_PLACE,
  },
  'security-log-unwritable': {
    check: 'security log',
    state: 'failed',
    found: '{file} cannot be written by this user',
    fix: LOG_PLACE,
  },
  'files-on-disk-good': {
    check: 'stored files',
    state: 'ok',
    found: '{directory} can be written and read',
  },
  'files-in-store-good': {
    check: 'stored files',
    state: 'ok',
    found: 'the object store of SLUICE_BLOB_URL can be written and read',
  },
  'files-on-disk-bad': {
    check: 'stored files',
    state: 'failed',
    found: '{directory}: {words}',
    fix: `let this user write there; ${BLOBS_NEEDED}`,
  },
  'files-in-store-bad': {
    check: 'stored files',
    state: 'failed',
    found: 'the object store of SLUICE_BLOB_URL: {words}',
    fix: `check SLUICE_BLOB_URL and its credentials: putting, reading and deleting must be allowed; ${BLOBS_NEEDED}`,
  },
  'mail-absent': {
    check: 'mail',
    state: 'warning',
    found: 'not configured',
    fix: 'set SLUICE_SMTP_URL and SLUICE_MAIL_FROM; until then mails are printed to the log',
  },
  'mail-good': { check: 'mail', state: 'ok', found: 'the server accepts the sign-in' },
  'mail-bad': {
    check: 'mail',
    state: 'failed',
    found: '{words}',
    fix: 'check SLUICE_SMTP_URL: host, port, user and password',
  },
  'phone-absent': {
    check: 'phone messages',
    state: 'warning',
    found: 'not configured',
    fix: 'set SLUICE_SMS_URL to sign people in by phone; until then codes are printed to the log',
  },
  'phone-good': { check: 'phone messages', state: 'ok', found: 'configured; no message was sent' },
  'phone-bad': { check: 'phone messages', state: 'failed', found: '{words}', fix: 'check SLUICE_SMS_URL' },
  'vendor-offered': {
    check: 'vendors',
    state: 'warning',
    found: '{variable} is set, and the catalogue has no {vendor}',
    fix: 'sluice vendors add {preset}',
  },
  'currency-good': {
    check: 'currencies',
    state: 'ok',
    found: 'models priced in {currency}: {models}, at {rate} Credits for one {currency}',
  },
  'currency-unrated': {
    check: 'currencies',
    state: 'failed',
    found: 'models priced in {currency}, which has no rate: {models}',
    fix: 'sluice apply -f a file whose settings.currencies says what one {currency} is worth',
  },
  'usage-told': {
    check: 'stream usage',
    state: 'ok',
    found: 'every model that reasons reports its usage',
  },
  'usage-estimated': {
    check: 'stream usage',
    state: 'warning',
    found:
      '{model} over {vendor} ({forward}): streams whose clients ask for no usage are charged by an estimate, and reasoning is in none of their bytes; set stream_usage: inject on this chain',
    fix: 'sluice apply with stream_usage: inject',
  },
  'surcharges-priced': {
    check: 'surcharges',
    state: 'ok',
    found: 'what vendors charge extra for is priced or refused',
  },
  'surcharges-unpriced': {
    check: 'surcharges',
    state: 'warning',
    found:
      '{model} over {vendor}: the vendor charges extra for {extras}, which have no price here; name them in surcharges or refuse of the model',
    fix: 'docs/reference/gateway-file.md, surcharges',
  },
  /** The check itself failed, whichever it was. */
  unlooked: { check: 'node', state: 'failed', found: '{words}', fix: '{remedy}' },
} as const satisfies Readonly<Record<string, Sentences>>

export type FindingCode = keyof typeof SENTENCES

function isCode(name: string): name is FindingCode {
  return Object.hasOwn(SENTENCES, name)
}

export const FINDING_CODES: readonly FindingCode[] = Object.keys(SENTENCES).filter(isCode)

/** The names in the braces of a text. */
type Holes<Text> = Text extends `${string}{${infer Name}}${infer Rest}` ? Name | Holes<Rest> : never
type HolesOf<Of> = Of extends { readonly found: infer Found; readonly fix: infer Fix }
  ? Holes<Found> | Holes<Fix>
  : Of extends { readonly found: infer Found }
    ? Holes<Found>
    : never
export type FindingParameters = Readonly<Record<string, string | number>>

/** A finding that can be translated: by its code and the values inserted into its sentences. */
export interface RunningFinding extends Finding {
  readonly check: RunningCheck
  readonly code: FindingCode
  readonly parameters: FindingParameters
}

export function finding<Code extends FindingCode>(
  code: Code,
  parameters: Readonly<Record<HolesOf<(typeof SENTENCES)[Code]>, string | number>>,
): RunningFinding {
  const { check, state, found, fix }: Sentences = SENTENCES[code]
  return {
    check,
    state,
    code,
    parameters,
    found: filled(found, parameters),
    fix: fix === undefined ? undefined : filled(fix, parameters),
  }
}

/** The finding of a check that failed unexpectedly. */
export function unlooked(check: RunningCheck, { found, fix }: Finding): RunningFinding {
  return { ...finding('unlooked', { words: found, remedy: fix ?? '' }), check }
}

/** The names of the values in a code's sentences. */
export function holesOf(code: FindingCode): readonly string[] {
  const { found, fix = '' }: Sentences = SENTENCES[code]
  return [...new Set([...`${found} ${fix}`.matchAll(HOLE)].map(([, name = '']) => name))].sort()
}

/** Codes that come with something to do. */
export function hasFix(code: FindingCode): boolean {
  return 'fix' in SENTENCES[code]
}

const HOLE = /\{(\w+)\}/g

function filled(text: string, parameters: FindingParameters): string {
  return text.replace(HOLE, (_, name: string) => String(parameters[name] ?? ''))
}
