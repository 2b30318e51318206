import { join, resolve } from 'node:path'
import type { Secret } from '../core/secret.ts'
import type { S3Address } from './blob-url.ts'
import { nearestName } from '../core/nearest-name.ts'
import { VARIABLES, type VariableValues } from './environment-variables.ts'
import { UnusableValue, type Variable } from './variable-forms.ts'

/**
 * The configuration from the environment, checked and frozen: the rows of `VARIABLES`, with absolute paths. Built once
 * by `main` and `cli`, passed down.
 */
export interface Config extends Omit<VariableValues, 'databaseUrl' | 'blobUrl'> {
  readonly database: DatabaseConfig
  readonly blob: BlobConfig
  readonly opsHost: string
  /**
   * True: `port` serves both addresses, distinguished by the host name of `gatewayUrl`
   * (docs/reference/contract.md#D-addresses-02).
   */
  readonly sharedPort: boolean
  /** `SLUICE_…` variables that are set but unknown, each with a hint; shown as warnings at start. */
  readonly warnings: readonly string[]
}

export type DatabaseConfig =
  | { readonly kind: 'sqlite'; readonly file: string }
  | { readonly kind: 'postgres'; readonly url: Secret }

export type BlobConfig =
  | { readonly kind: 'disk'; readonly directory: string }
  | (S3Address & { readonly kind: 's3' })

/** All mistakes in the environment, each with its variable. */
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
 * Reads the environment into one frozen value. No variable is required. Throws `ConfigError`.
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
      const shown = variable.secret === true ? '' : `, not ${JSON.stringify(text)}`
      mistakes.push(`${variable.name} must be ${error.message}${shown}`)
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

function readVariables(read: (variable: Variable<unknown>) => unknown): VariableValues {
  const values = Object.entries(VARIABLES).map(([key, variable]) => [key, read(variable)])
  // Each value is the result of its own row.
  return Object.fromEntries(values) as VariableValues
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

/** Mistakes in the combination of variables. */
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
      'SLUICE_STRIPE_KEY and SLUICE_STRIPE_WEBHOOK_SECRET must be set together: payments are reported by webhooks',
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
      return `${name} is set, but there is no such setting${nearest === undefined ? '' : `; did you mean ${nearest}?`}`
    })
}

function frozen(config: Config): Config {
  for (const value of Object.values(config)) if (typeof value === 'object') Object.freeze(value)
  return Object.freeze(config)
}
