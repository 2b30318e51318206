import { join, resolve } from 'node:path'
import type { Secret } from '../core/secret.ts'
import type { S3Address } from './blob-url.ts'
import { nearestName } from '../core/nearest-name.ts'
import {
  type FactorRule,
  type LogLevel,
  UnusableValue,
  type RegistrationRule,
  type Switch,
  VARIABLES,
  type Variable,
  type VariableValues,
} from './environment-variables.ts'

/** Everything the environment decides, checked and frozen. Built once by `main` and `cli`, passed down. */
export interface Config {
  /** Absolute. */
  readonly dataDirectory: string
  readonly database: DatabaseConfig
  readonly blob: BlobConfig
  /** undefined: every address of the machine. */
  readonly host: string | undefined
  readonly opsHost: string
  /** 0: any free one. */
  readonly port: number
  readonly gatewayPort: number
  readonly opsPort: number
  /** True: `port` serves both addresses, told apart by the host name of `gatewayUrl` (decisions, Addresses). */
  readonly sharedPort: boolean
  /** Address clients use, without a slash at the end; undefined: the one listened on. */
  readonly publicUrl: string | undefined
  readonly gatewayUrl: string | undefined
  /** undefined: the one in the data directory; see `openDataDirectory`. */
  readonly secretKey: Secret | undefined
  /** undefined: what would be mailed is printed to the log. */
  readonly smtpUrl: Secret | undefined
  readonly mailFrom: string | undefined
  readonly smsUrl: Secret | undefined
  /** Country of phone numbers written without one, ISO 3166. */
  readonly phoneRegion: string | undefined
  /** Text messages in a day and in a calendar month, UTC. */
  readonly smsDayLimit: number
  readonly smsMonthLimit: number
  /** ISO 3166 codes in capitals, or prefixes with their +. Empty: everywhere. */
  readonly smsCountries: readonly string[]
  readonly smsRefused: readonly string[]
  readonly registration: RegistrationRule
  readonly adminSecondFactor: FactorRule
  readonly signInServices: readonly Secret[]
  /** undefined: nobody can top up by card. */
  readonly stripeKey: Secret | undefined
  readonly stripeWebhookSecret: Secret | undefined
  /** undefined: Stripe's own. */
  readonly stripeUrl: string | undefined
  /** Absolute path `SLUICE_CONFIG` names; undefined: `gateway.yaml` beside the process, where one lies. */
  readonly gatewayFile: string | undefined
  readonly logLevel: LogLevel
  /** Absolute; undefined: the log. */
  readonly securityLog: string | undefined
  readonly workers: number
  /** CIDR ranges client-chosen URLs may reach although private. */
  readonly fetchAllow: readonly string[]
  /** undefined: connections outward go straight. */
  readonly httpsProxy: Secret | undefined
  readonly httpProxy: Secret | undefined
  /** What is reached without them. */
  readonly noProxy: readonly string[]
  /** CIDR ranges of proxies whose X-Forwarded-For counts. */
  readonly trustedProxies: readonly string[]
  /** Origins whose pages may call from a browser, or `*`. */
  readonly corsOrigins: readonly string[]
  /** Whether the public address serves the console. */
  readonly console: Switch
  /** 0: for ever. */
  readonly logRetentionDays: number
  readonly shutdownGraceMs: number
  /** Calls are still taken while `/readyz` already says 503. */
  readonly drainDelayMs: number
  /** One deadline over all attempts of a chat-type call. */
  readonly callDeadlineMs: number
  /** How long a task may take upstream. */
  readonly videoDeadlineMs: number
  /** A background response is cancelled then. */
  readonly backgroundDeadlineMs: number
  readonly bodyLimitBytes: number
  readonly countsPerMinuteMax: number
  /** Sum of request bodies held at once; past it 50301. */
  readonly bytesInFlightLimit: number
  /** The serving thread may be silent for as long. */
  readonly hungAfterMs: number
  /** Members and items of one body, its messages, and how deep it may be nested. */
  readonly bodyMembersMax: number
  readonly bodyMessagesMax: number
  readonly bodyDepthMax: number
  readonly headerLimitBytes: number
  readonly headersMax: number
  readonly connectionsMax: number
  readonly connectionsPerAddressMax: number
  readonly managementBodyTimeoutMs: number
  readonly headerTimeoutMs: number
  readonly bodyIdleTimeoutMs: number
  readonly clientStallTimeoutMs: number
  readonly keepAliveTimeoutMs: number
  /** `SLUICE_…` variables that are set but mean nothing, each with a hint; worth a warning at start. */
  readonly warnings: readonly string[]
}

export type DatabaseConfig =
  | { readonly kind: 'sqlite'; readonly file: string }
  | { readonly kind: 'postgres'; readonly url: Secret }

export type BlobConfig =
  | { readonly kind: 'disk'; readonly directory: string }
  | (S3Address & { readonly kind: 's3' })

/** What is wrong with the environment: every mistake at once, each naming its variable. */
export class ConfigError extends Error {
  readonly mistakes: readonly string[]

  constructor(mistakes: readonly string[]) {
    super(mistakes.join('\n'))
    this.name = 'ConfigError'
    this.mistakes = mistakes
  }
}

export type Environment = Readonly<Record<string, string | undefined>>

/**
 * Reads the environment into one frozen value. Nothing has to be set. Throws `ConfigError`.
 * @param workingDirectory what relative paths are relative to
 */
export function readConfig(environment: Environment, workingDirectory: string = process.cwd()): Config {
  const mistakes: string[] = []
  const values = readVariables((variable) => {
    const text = textOf(environment, variable)
    if (text === undefined || text === '') return variable.fallback
    try {
      return variable.parse(text, workingDirectory)
    } catch (error) {
      if (!(error instanceof UnusableValue)) throw error
      mistakes.push(`${variable.name} must be ${error.message}${shown(variable.name, text)}`)
      return variable.fallback
    }
  })
  const config = configOf(values, { workingDirectory, warnings: unknownVariables(environment) })
  mistakes.push(...contradictions(config))
  if (mistakes.length > 0) throw new ConfigError(mistakes)
  return frozen(config)
}

function textOf(
  environment: Environment,
  { name, alias }: Pick<Variable<unknown>, 'name' | 'alias'>,
): string | undefined {
  const text = environment[name] ?? (alias === undefined ? undefined : environment[alias])
  return text?.trim()
}

function readVariables(read: <Value>(variable: Variable<Value>) => Value): VariableValues {
  return {
    dataDirectory: read(VARIABLES.dataDirectory),
    databaseUrl: read(VARIABLES.databaseUrl),
    blobUrl: read(VARIABLES.blobUrl),
    host: read(VARIABLES.host),
    opsHost: read(VARIABLES.opsHost),
    port: read(VARIABLES.port),
    gatewayPort: read(VARIABLES.gatewayPort),
    opsPort: read(VARIABLES.opsPort),
    publicUrl: read(VARIABLES.publicUrl),
    gatewayUrl: read(VARIABLES.gatewayUrl),
    secretKey: read(VARIABLES.secretKey),
    smtpUrl: read(VARIABLES.smtpUrl),
    mailFrom: read(VARIABLES.mailFrom),
    smsUrl: read(VARIABLES.smsUrl),
    phoneRegion: read(VARIABLES.phoneRegion),
    smsDayLimit: read(VARIABLES.smsDayLimit),
    smsMonthLimit: read(VARIABLES.smsMonthLimit),
    smsCountries: read(VARIABLES.smsCountries),
    smsRefused: read(VARIABLES.smsRefused),
    registration: read(VARIABLES.registration),
    adminSecondFactor: read(VARIABLES.adminSecondFactor),
    signInServices: read(VARIABLES.signInServices),
    stripeKey: read(VARIABLES.stripeKey),
    stripeWebhookSecret: read(VARIABLES.stripeWebhookSecret),
    stripeUrl: read(VARIABLES.stripeUrl),
    gatewayFile: read(VARIABLES.gatewayFile),
    logLevel: read(VARIABLES.logLevel),
    securityLog: read(VARIABLES.securityLog),
    workers: read(VARIABLES.workers),
    fetchAllow: read(VARIABLES.fetchAllow),
    httpsProxy: read(VARIABLES.httpsProxy),
    httpProxy: read(VARIABLES.httpProxy),
    noProxy: read(VARIABLES.noProxy),
    trustedProxies: read(VARIABLES.trustedProxies),
    corsOrigins: read(VARIABLES.corsOrigins),
    console: read(VARIABLES.console),
    logRetentionDays: read(VARIABLES.logRetentionDays),
    shutdownGraceMs: read(VARIABLES.shutdownGraceMs),
    drainDelayMs: read(VARIABLES.drainDelayMs),
    callDeadlineMs: read(VARIABLES.callDeadlineMs),
    videoDeadlineMs: read(VARIABLES.videoDeadlineMs),
    backgroundDeadlineMs: read(VARIABLES.backgroundDeadlineMs),
    bodyLimitBytes: read(VARIABLES.bodyLimitBytes),
    countsPerMinuteMax: read(VARIABLES.countsPerMinuteMax),
    bytesInFlightLimit: read(VARIABLES.bytesInFlightLimit),
    hungAfterMs: read(VARIABLES.hungAfterMs),
    bodyMembersMax: read(VARIABLES.bodyMembersMax),
    bodyMessagesMax: read(VARIABLES.bodyMessagesMax),
    bodyDepthMax: read(VARIABLES.bodyDepthMax),
    headerLimitBytes: read(VARIABLES.headerLimitBytes),
    headersMax: read(VARIABLES.headersMax),
    connectionsMax: read(VARIABLES.connectionsMax),
    connectionsPerAddressMax: read(VARIABLES.connectionsPerAddressMax),
    managementBodyTimeoutMs: read(VARIABLES.managementBodyTimeoutMs),
    headerTimeoutMs: read(VARIABLES.headerTimeoutMs),
    bodyIdleTimeoutMs: read(VARIABLES.bodyIdleTimeoutMs),
    clientStallTimeoutMs: read(VARIABLES.clientStallTimeoutMs),
    keepAliveTimeoutMs: read(VARIABLES.keepAliveTimeoutMs),
  }
}

const LOOPBACK = '127.0.0.1'

function configOf(
  { databaseUrl, blobUrl, ...values }: VariableValues,
  { workingDirectory, warnings }: { readonly workingDirectory: string; readonly warnings: readonly string[] },
): Config {
  const dataDirectory = resolve(workingDirectory, values.dataDirectory)
  return {
    ...values,
    dataDirectory,
    opsHost: values.opsHost ?? values.host ?? LOOPBACK,
    database:
      databaseUrl === undefined
        ? { kind: 'sqlite', file: join(dataDirectory, 'sluice.db') }
        : { kind: 'postgres', url: databaseUrl },
    blob:
      blobUrl === undefined
        ? { kind: 'disk', directory: join(dataDirectory, 'blobs') }
        : { ...blobUrl, kind: 's3' },
    sharedPort: values.port === values.gatewayPort && values.port !== 0,
    warnings,
  }
}

/** What no variable says wrongly by itself, but some together. */
function contradictions(config: Config): readonly string[] {
  const mistakes: string[] = []
  if (config.sharedPort && config.gatewayUrl === undefined) {
    mistakes.push(
      'SLUICE_GATEWAY_URL must be set when SLUICE_PORT and SLUICE_GATEWAY_PORT are the same: its host name tells the two addresses apart',
    )
  }
  if (config.opsPort !== 0 && (config.opsPort === config.port || config.opsPort === config.gatewayPort)) {
    mistakes.push('SLUICE_OPS_PORT must be another port than SLUICE_PORT and SLUICE_GATEWAY_PORT')
  }
  if (config.smtpUrl !== undefined && config.mailFrom === undefined) {
    mistakes.push('SLUICE_MAIL_FROM must be set when SLUICE_SMTP_URL is: mails need a sender')
  }
  if (config.signInServices.length > 0 && config.publicUrl === undefined) {
    mistakes.push(
      'SLUICE_PUBLIC_URL must be set when SLUICE_SIGN_IN is: other services send people back to it',
    )
  }
  if ((config.stripeKey === undefined) !== (config.stripeWebhookSecret === undefined)) {
    mistakes.push(
      'SLUICE_STRIPE_KEY and SLUICE_STRIPE_WEBHOOK_SECRET must be set together: what is paid is told by webhooks',
    )
  }
  if (config.stripeKey !== undefined && config.publicUrl === undefined) {
    mistakes.push('SLUICE_PUBLIC_URL must be set when SLUICE_STRIPE_KEY is: Stripe sends people back to it')
  }
  if (config.bytesInFlightLimit < config.bodyLimitBytes) {
    mistakes.push('SLUICE_BYTES_IN_FLIGHT_LIMIT must be at least SLUICE_BODY_LIMIT_BYTES')
  }
  return mistakes
}

function unknownVariables(environment: Environment): readonly string[] {
  const known: readonly string[] = Object.values(VARIABLES).map((variable) => variable.name)
  return Object.keys(environment)
    .filter((name) => name.startsWith('SLUICE_') && !known.includes(name))
    .sort()
    .map((name) => {
      const nearest = nearestName(name, known)
      return `${name} is set but means nothing${nearest === undefined ? '' : `; did you mean ${nearest}?`}`
    })
}

/** The offending text, except where it may hold a password. */
function shown(name: string, text: string): string {
  const confidential: readonly string[] = [
    VARIABLES.databaseUrl.name,
    VARIABLES.blobUrl.name,
    VARIABLES.secretKey.name,
    VARIABLES.smtpUrl.name,
    VARIABLES.smsUrl.name,
    VARIABLES.signInServices.name,
    VARIABLES.stripeKey.name,
    VARIABLES.stripeWebhookSecret.name,
    VARIABLES.httpsProxy.name,
    VARIABLES.httpProxy.name,
  ]
  return confidential.includes(name) ? '' : `, not ${JSON.stringify(text)}`
}

function frozen(config: Config): Config {
  Object.freeze(config.database)
  Object.freeze(config.blob)
  Object.freeze(config.fetchAllow)
  Object.freeze(config.noProxy)
  Object.freeze(config.trustedProxies)
  Object.freeze(config.corsOrigins)
  Object.freeze(config.signInServices)
  Object.freeze(config.smsCountries)
  Object.freeze(config.smsRefused)
  Object.freeze(config.warnings)
  return Object.freeze(config)
}
