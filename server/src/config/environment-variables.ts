/**
 * Every environment variable the gateway reads, one row each. `readConfig` reads through this table and
 * `docs/reference/configuration.md` is written from it, so neither can know a variable the other does not. As long as
 * the table is.
 */
import { resolve } from 'node:path'
import { Secret } from '../core/secret.ts'
import { isAddressRange } from './address-range.ts'
import { readBlobUrl, type S3Address } from './blob-url.ts'

export interface Variable<Value> {
  readonly name: string
  /** A second name under which it is known elsewhere. */
  readonly alias?: string
  /** What holds when it is not set (or set to nothing). */
  readonly fallback: Value
  /** The same, for readers. */
  readonly shownDefault: string
  /** What may be written, for readers. */
  readonly form: string
  /** Why one would set it. */
  readonly meaning: string
  /** Throws `UnusableValue` when the text says nothing usable. */
  readonly parse: (text: string, workingDirectory: string) => Value
}

/** The text of one variable cannot be used; `message` completes the sentence "NAME must be …". */
export class UnusableValue extends Error {
  constructor(mustBe: string) {
    super(mustBe)
    this.name = 'UnusableValue'
  }
}

/** Who may make an account by themselves. */
export const REGISTRATIONS = ['open', 'invited', 'closed'] as const
export type RegistrationRule = (typeof REGISTRATIONS)[number]

const FACTOR_RULES = ['optional', 'required'] as const
export type FactorRule = (typeof FACTOR_RULES)[number]

const SWITCH = ['on', 'off'] as const
export type Switch = (typeof SWITCH)[number]

export const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const
export type LogLevel = (typeof LOG_LEVELS)[number]

const MIB = 1024 * 1024

export const VARIABLES = {
  dataDirectory: {
    name: 'SLUICE_DATA_DIR',
    fallback: './data',
    shownDefault: './data',
    form: 'a directory',
    meaning:
      'Where the secret key, the SQLite database and stored videos live. Created (mode 0700) when missing.',
    parse: (text) => text,
  },
  databaseUrl: {
    name: 'SLUICE_DATABASE_URL',
    fallback: undefined,
    shownDefault: 'SQLite in the data directory',
    form: '`postgres://user:password@host:port/database`',
    meaning: 'Keeps everything in PostgreSQL, so that several instances can run on one truth.',
    parse: (text) => secretUrlOf(text, ['postgres:', 'postgresql:']),
  },
  blobUrl: {
    name: 'SLUICE_BLOB_URL',
    fallback: undefined,
    shownDefault: 'the data directory',
    form: '`s3://bucket/prefix?endpoint=…&region=…&path_style=true&access_key_id=…&secret_access_key=…`',
    meaning:
      'Keeps finished videos and other large objects in an S3-compatible store. Everything behind the bucket may be absent: without an endpoint it is Amazon’s, without credentials or region the usual AWS variables count.',
    parse: blobUrlOf,
  },
  host: {
    name: 'SLUICE_HOST',
    fallback: undefined,
    shownDefault: 'every address of the machine',
    form: 'an IP address or a host name',
    meaning: 'The local address the listeners bind to.',
    parse: hostOf,
  },
  opsHost: {
    name: 'SLUICE_OPS_HOST',
    fallback: undefined,
    shownDefault: '`SLUICE_HOST` when that is set, else 127.0.0.1',
    form: 'an IP address or a host name',
    meaning:
      'The local address of the operator’s port, which asks for no key: this machine alone, unless probes and Prometheus come from another one.',
    parse: hostOf,
  },
  port: {
    name: 'SLUICE_PORT',
    fallback: 8080,
    shownDefault: '8080',
    form: 'a port; 0 takes any free one',
    meaning: 'The public address (base_url): every path.',
    parse: portOf,
  },
  gatewayPort: {
    name: 'SLUICE_GATEWAY_PORT',
    fallback: 8081,
    shownDefault: '8081',
    form: 'a port; 0 takes any free one',
    meaning:
      'The gateway address (gateway_base_url), for keys bound to a protocol group. The same number as `SLUICE_PORT` (not 0) serves both addresses from one port, told apart by the host name of `SLUICE_GATEWAY_URL`.',
    parse: portOf,
  },
  opsPort: {
    name: 'SLUICE_OPS_PORT',
    fallback: 9090,
    shownDefault: '9090',
    form: 'a port; 0 takes any free one',
    meaning: 'Health, readiness and metrics. Not meant for the internet.',
    parse: portOf,
  },
  publicUrl: {
    name: 'SLUICE_PUBLIC_URL',
    fallback: undefined,
    shownDefault: 'the address listened on',
    form: 'an http or https address',
    meaning: 'How clients reach the public address from outside; links to stored videos begin with it.',
    parse: (text) => addressOf(text),
  },
  gatewayUrl: {
    name: 'SLUICE_GATEWAY_URL',
    fallback: undefined,
    shownDefault: 'the address listened on',
    form: 'an http or https address',
    meaning: 'How clients reach the gateway address from outside. Needed when one port serves both.',
    parse: (text) => addressOf(text),
  },
  secretKey: {
    name: 'SLUICE_SECRET_KEY',
    fallback: undefined,
    shownDefault: 'made once, in `secret.key` of the data directory',
    form: '32 bytes as base64 or hex, or any text of at least 16 characters',
    meaning:
      'Encrypts stored provider credentials and signs links. The same on every instance; losing it loses the stored credentials. In hex: `openssl rand -hex 32`.',
    parse: secretKeyOf,
  },
  smtpUrl: {
    name: 'SLUICE_SMTP_URL',
    fallback: undefined,
    shownDefault: 'none: codes by e-mail are printed to the log',
    form: '`smtp://user:password@host:587` or `smtps://user:password@host`',
    meaning: 'The mail server that sends verification codes and alerts. Needs `SLUICE_MAIL_FROM`.',
    parse: (text) => secretUrlOf(text, ['smtp:', 'smtps:']),
  },
  mailFrom: {
    name: 'SLUICE_MAIL_FROM',
    fallback: undefined,
    shownDefault: 'none',
    form: '`name@example.com` or `Name <name@example.com>`',
    meaning: 'Who mails come from.',
    parse: senderOf,
  },
  smsUrl: {
    name: 'SLUICE_SMS_URL',
    fallback: undefined,
    shownDefault: 'none: codes by phone are printed to the log',
    form: '`aliyun://key-id:key-secret@dysmsapi.aliyuncs.com?sign=…&template=…`, `twilio://account-sid:token@api.twilio.com?from=+1…`, or `https://:signing-secret@host/path` of a service of your own',
    meaning: 'The service that sends verification codes to phones.',
    parse: (text) => secretUrlOf(text, ['aliyun:', 'twilio:', 'https:', 'http:']),
  },
  phoneRegion: {
    name: 'SLUICE_PHONE_REGION',
    fallback: undefined,
    shownDefault: 'none: phone numbers need their `+` and country code',
    form: 'a country code of two letters, such as CN',
    meaning: 'The country of phone numbers written without one.',
    parse: regionOf,
  },
  smsDayLimit: {
    name: 'SLUICE_SMS_DAY_LIMIT',
    fallback: 1_000,
    shownDefault: '1000',
    form: 'a whole number from 0 to 10000000',
    meaning:
      'How many text messages may be sent in a day (UTC). Strangers who register get half of it, accounts that sign in from a new place four fifths, so that nobody who is known is left without a code. At 80 % administrators get a mail.',
    parse: (text) => wholeNumberOf(text, { least: 0, most: 10_000_000 }),
  },
  smsMonthLimit: {
    name: 'SLUICE_SMS_MONTH_LIMIT',
    fallback: 10_000,
    shownDefault: '10000',
    form: 'a whole number from 0 to 100000000',
    meaning: 'The same in a calendar month (UTC).',
    parse: (text) => wholeNumberOf(text, { least: 0, most: 100_000_000 }),
  },
  smsCountries: {
    name: 'SLUICE_SMS_COUNTRIES',
    fallback: [],
    shownDefault: 'every country',
    form: 'country codes (`CN`, `DE`) or prefixes (`+86`, `+1415`), separated by commas or blanks',
    meaning: 'Where text messages may be sent to. Nothing else is tried then.',
    parse: placesOf,
  },
  smsRefused: {
    name: 'SLUICE_SMS_REFUSED',
    fallback: [],
    shownDefault: 'none beside satellite, international and premium numbers',
    form: 'as `SLUICE_SMS_COUNTRIES`',
    meaning:
      'Where none is sent to. Satellite networks, international networks, premium rate, shared cost and pager numbers never get one, unless `SLUICE_SMS_COUNTRIES` names their prefix.',
    parse: placesOf,
  },
  registration: {
    name: 'SLUICE_REGISTRATION',
    fallback: 'open',
    shownDefault: 'open',
    form: REGISTRATIONS.join(', '),
    meaning:
      'Who may make an account: anybody; whoever an organisation has invited, with the address that was invited; or nobody, so that administrators make them. It holds for e-mail, phones and other services alike.',
    parse: (text) => wordOf(text, REGISTRATIONS),
  },
  adminSecondFactor: {
    name: 'SLUICE_ADMIN_SECOND_FACTOR',
    fallback: 'optional',
    shownDefault: 'optional',
    form: FACTOR_RULES.join(', '),
    meaning:
      '`required`: a session of an administrator that has shown no authenticator app, passkey or recovery code may set one up and nothing else. The command line is not asked.',
    parse: (text) => wordOf(text, FACTOR_RULES),
  },
  signInServices: {
    name: 'SLUICE_SIGN_IN',
    fallback: [],
    shownDefault: 'none',
    form: 'addresses separated by blanks: `oidc://client-id:client-secret@issuer.example/path?name=corp&label=Example`, `github://client-id:client-secret@github.com`',
    meaning:
      'Other services people may sign in through. Each is told the redirect address `…/api/v1/user/user/sign-in/services/{name}/callback`; needs `SLUICE_PUBLIC_URL`.',
    parse: secretsOf,
  },
  stripeKey: {
    name: 'SLUICE_STRIPE_KEY',
    fallback: undefined,
    shownDefault: 'none: nobody can top up by card',
    form: 'a secret or restricted key of a Stripe account (`sk_…`, `rk_…`)',
    meaning:
      'Lets accounts top up by card, through Stripe Checkout. Needs `SLUICE_STRIPE_WEBHOOK_SECRET` and `SLUICE_PUBLIC_URL`. A restricted key needs to write checkout sessions, nothing else.',
    parse: stripeKeyOf,
  },
  stripeWebhookSecret: {
    name: 'SLUICE_STRIPE_WEBHOOK_SECRET',
    fallback: undefined,
    shownDefault: 'none',
    form: 'the signing secret of a webhook endpoint (`whsec_…`)',
    meaning:
      'Shows that webhooks at `…/api/v1/payments/stripe/webhook` come from Stripe. The endpoint has to be sent the events `checkout.session.*`, `charge.refunded`, `refund.*` and `charge.dispute.*`.',
    parse: (text) => new Secret(text),
  },
  stripeUrl: {
    name: 'SLUICE_STRIPE_URL',
    fallback: undefined,
    shownDefault: '`https://api.stripe.com`',
    form: 'an http or https address',
    meaning: 'Another place of the Stripe API, such as a stand-in for trials.',
    parse: (text) => addressOf(text),
  },
  gatewayFile: {
    name: 'SLUICE_CONFIG',
    fallback: undefined,
    shownDefault: '`gateway.yaml` in the working directory, if there is one',
    form: 'a path to a YAML or JSON file',
    meaning: 'The gateway file applied at the first start. Later changes: `sluice apply -f`.',
    parse: (text, workingDirectory) => resolve(workingDirectory, text),
  },
  logLevel: {
    name: 'SLUICE_LOG_LEVEL',
    fallback: 'info',
    shownDefault: 'info',
    form: LOG_LEVELS.join(', '),
    meaning: 'How much is logged. No level logs request content or secrets.',
    parse: (text) => wordOf(text, LOG_LEVELS),
  },
  securityLog: {
    name: 'SLUICE_SECURITY_LOG',
    fallback: undefined,
    shownDefault: 'the log',
    form: 'a path to a file',
    meaning:
      'Where security events go, one JSON object a line: sign-ins that fail, limits, refused addresses, changes. The file is appended to and may be moved away at any time.',
    parse: (text, workingDirectory) => resolve(workingDirectory, text),
  },
  workers: {
    name: 'SLUICE_WORKERS',
    fallback: 1,
    shownDefault: '1',
    form: 'a whole number from 1 to 256',
    meaning: 'Processes that share the listeners. More than the machine has cores makes it slower.',
    parse: (text) => wholeNumberOf(text, { least: 1, most: 256 }),
  },
  fetchAllow: {
    name: 'SLUICE_FETCH_ALLOW',
    fallback: [],
    shownDefault: 'none',
    form: 'CIDR ranges, separated by commas or blanks',
    meaning:
      "Private addresses that URLs chosen by clients (reference images) may reach. A vendor's own base_url may always be private.",
    parse: rangesOf,
  },
  httpsProxy: {
    name: 'HTTPS_PROXY',
    alias: 'https_proxy',
    fallback: undefined,
    shownDefault: 'none',
    form: '`http://user:password@host:port`, also as `https_proxy`',
    meaning:
      'The proxy that https addresses are reached by: vendors, webhooks, sign-in services, addresses clients name. It is asked to connect (CONNECT) and sees no content. Databases, S3 stores and mail servers are reached without.',
    parse: proxyOf,
  },
  httpProxy: {
    name: 'HTTP_PROXY',
    alias: 'http_proxy',
    fallback: undefined,
    shownDefault: 'none',
    form: 'as `HTTPS_PROXY`, also as `http_proxy`',
    meaning: 'The same for http addresses.',
    parse: proxyOf,
  },
  noProxy: {
    name: 'NO_PROXY',
    alias: 'no_proxy',
    fallback: [],
    shownDefault: 'this machine itself',
    form: 'hosts, domains, addresses and CIDR networks, separated by commas or blanks; also as `no_proxy`',
    meaning:
      'What is reached without those proxies. A domain stands for all below it, `host:8080` for one port, `*` for everything.',
    parse: hostsOf,
  },
  trustedProxies: {
    name: 'SLUICE_TRUSTED_PROXIES',
    fallback: [],
    shownDefault: 'none',
    form: 'CIDR ranges, separated by commas or blanks',
    meaning:
      "Reverse proxies whose `X-Forwarded-For` is believed, so that a key's address list sees the client and not the proxy.",
    parse: rangesOf,
  },
  corsOrigins: {
    name: 'SLUICE_CORS_ORIGINS',
    fallback: [],
    shownDefault: 'none: no page of another site may call',
    form: 'origins such as `https://app.example.com`, separated by commas or blanks, or `*`',
    meaning:
      'Sites whose web pages may call models and list them from the browser (CORS). Whoever opens such a page can read the key it calls with. Everything under `/api` stays with its own site.',
    parse: originsOf,
  },
  console: {
    name: 'SLUICE_CONSOLE',
    fallback: 'on',
    shownDefault: 'on',
    form: SWITCH.join(', '),
    meaning:
      'Whether the public address serves the console, the web page at `/console` for those who call and those who run the gateway. `off` leaves the API alone.',
    parse: (text) => wordOf(text, SWITCH),
  },
  logRetentionDays: {
    name: 'SLUICE_LOG_RETENTION_DAYS',
    fallback: 0,
    shownDefault: '0: for ever',
    form: 'a whole number from 0 to 36500',
    meaning: 'How many days the rows of the call log are kept. The ledger is kept for ever.',
    parse: (text) => wholeNumberOf(text, { least: 0, most: 36_500 }),
  },
  shutdownGraceMs: {
    name: 'SLUICE_SHUTDOWN_GRACE_MS',
    fallback: 30_000,
    shownDefault: '30000',
    form: 'milliseconds, 0 to 3600000',
    meaning: 'How long a stopping process lets running calls end before it cuts and settles them.',
    parse: (text) => wholeNumberOf(text, { least: 0, most: 3_600_000 }),
  },
  drainDelayMs: {
    name: 'SLUICE_DRAIN_DELAY_MS',
    fallback: 0,
    shownDefault: '0',
    form: 'milliseconds, 0 to 600000',
    meaning:
      'How long a stopping process still takes calls while `/readyz` says 503, so that a load balancer sends the next ones elsewhere before the ports close. A little more than the balancer takes to notice.',
    parse: (text) => wholeNumberOf(text, { least: 0, most: 600_000 }),
  },
  callDeadlineMs: {
    name: 'SLUICE_CALL_DEADLINE_MS',
    fallback: 900_000,
    shownDefault: '900000',
    form: 'milliseconds, 1000 to 86400000',
    meaning:
      'The longest a chat-type call may take, over all its attempts, and the longest any request body may take to arrive. Videos have a deadline of their own.',
    parse: (text) => wholeNumberOf(text, { least: 1000, most: 86_400_000 }),
  },
  videoDeadlineMs: {
    name: 'SLUICE_VIDEO_DEADLINE_MS',
    fallback: 3_600_000,
    shownDefault: '3600000',
    form: 'milliseconds, 1800000 to 86400000',
    meaning: 'How long a video may take upstream; then the task fails with 504/50401 and costs nothing.',
    parse: (text) => wholeNumberOf(text, { least: 1_800_000, most: 86_400_000 }),
  },
  backgroundDeadlineMs: {
    name: 'SLUICE_BACKGROUND_DEADLINE_MS',
    fallback: 3_600_000,
    shownDefault: '3600000',
    form: 'milliseconds, 60000 to 86400000',
    meaning:
      'How long a response may be made in the background (`background: true`); then it is cancelled upstream, and what was made of it is charged.',
    parse: (text) => wholeNumberOf(text, { least: 60_000, most: 86_400_000 }),
  },
  bodyLimitBytes: {
    name: 'SLUICE_BODY_LIMIT_BYTES',
    fallback: 100 * MIB,
    shownDefault: '104857600 (100 MiB)',
    form: 'bytes, 1024 to 104857600',
    meaning: 'The largest request body, once it is decoded; a larger one is 413/41301.',
    parse: (text) => wholeNumberOf(text, { least: 1024, most: 100 * MIB }),
  },
  bytesInFlightLimit: {
    name: 'SLUICE_BYTES_IN_FLIGHT_LIMIT',
    fallback: 512 * MIB,
    shownDefault: '536870912 (512 MiB)',
    form: 'bytes, at least the body limit',
    meaning:
      'The sum of all request bodies one process holds; past it a request is refused with 503/50301 and `Retry-After`.',
    parse: (text) => wholeNumberOf(text, { least: 1024, most: Number.MAX_SAFE_INTEGER }),
  },
  hungAfterMs: {
    name: 'SLUICE_HUNG_AFTER_MS',
    fallback: 60_000,
    shownDefault: '60000',
    form: 'milliseconds, 5000 to 3600000',
    meaning:
      'How long the thread that serves calls may be silent before `/healthz` says 503, so that the process is restarted; of several workers one that is silent for so long is ended and replaced.',
    parse: (text) => wholeNumberOf(text, { least: 5000, most: 3_600_000 }),
  },
  countsPerMinuteMax: {
    name: 'SLUICE_TOKEN_COUNTS_PER_MINUTE',
    fallback: 600,
    shownDefault: '600',
    form: 'a whole number from 0 to 1000000',
    meaning:
      'How often a minute an account may have tokens counted (`count_tokens`, `input_tokens`, `:countTokens`) on one instance; more are 429/42902. Counting is free, so it has a window of its own.',
    parse: (text) => wholeNumberOf(text, { least: 0, most: 1_000_000 }),
  },
  bodyMembersMax: {
    name: 'SLUICE_BODY_MEMBERS_LIMIT',
    fallback: 500_000,
    shownDefault: '500000',
    form: 'a whole number from 1000 to 10000000',
    meaning:
      'How many members of objects and items of arrays the JSON body of a call may hold, at every depth; more are 400/40000. What they cost to take apart grows faster than their bytes.',
    parse: (text) => wholeNumberOf(text, { least: 1000, most: 10_000_000 }),
  },
  bodyMessagesMax: {
    name: 'SLUICE_BODY_MESSAGES_LIMIT',
    fallback: 50_000,
    shownDefault: '50000',
    form: 'a whole number from 1 to 10000000',
    meaning:
      'How many messages (`messages`, `input`, `contents`) the body of a call may hold; more are 400/40000.',
    parse: (text) => wholeNumberOf(text, { least: 1, most: 10_000_000 }),
  },
  bodyDepthMax: {
    name: 'SLUICE_BODY_DEPTH_LIMIT',
    fallback: 200,
    shownDefault: '200',
    form: 'a whole number from 16 to 1000',
    meaning: 'How deep arrays and objects may be nested in the JSON body of a call; deeper is 400/40000.',
    parse: (text) => wholeNumberOf(text, { least: 16, most: 1000 }),
  },
  headerLimitBytes: {
    name: 'SLUICE_HEADER_LIMIT_BYTES',
    fallback: 32_768,
    shownDefault: '32768',
    form: 'bytes, 4096 to 1048576',
    meaning: 'The largest head of a request (request line and headers); a larger one is 431.',
    parse: (text) => wholeNumberOf(text, { least: 4096, most: MIB }),
  },
  headersMax: {
    name: 'SLUICE_HEADER_COUNT_LIMIT',
    fallback: 256,
    shownDefault: '256',
    form: 'a whole number from 16 to 10000',
    meaning: 'How many headers a request may have; more are 431.',
    parse: (text) => wholeNumberOf(text, { least: 16, most: 10_000 }),
  },
  connectionsMax: {
    name: 'SLUICE_CONNECTIONS_LIMIT',
    fallback: 20_000,
    shownDefault: '20000',
    form: 'a whole number from 16 to 1000000',
    meaning:
      'How many client connections one process holds; one more is answered 503/50301 and closed. The limit of open files of the process must allow twice as many.',
    parse: (text) => wholeNumberOf(text, { least: 16, most: 1_000_000 }),
  },
  connectionsPerAddressMax: {
    name: 'SLUICE_CONNECTIONS_PER_ADDRESS_LIMIT',
    fallback: 2_000,
    shownDefault: '2000',
    form: 'a whole number from 1 to 1000000',
    meaning:
      'How many connections of one address (IPv6: one /64) a process holds; one more is answered 429/42908 and closed. A proxy named in `SLUICE_TRUSTED_PROXIES` may hold any number: there the requests at once of each forwarded address are counted.',
    parse: (text) => wholeNumberOf(text, { least: 1, most: 1_000_000 }),
  },
  managementBodyTimeoutMs: {
    name: 'SLUICE_MANAGEMENT_BODY_TIMEOUT_MS',
    fallback: 30_000,
    shownDefault: '30000',
    form: 'milliseconds, 1000 to 600000',
    meaning: 'How long the body of a request to the management API (at most 1 MiB) may take to arrive.',
    parse: (text) => wholeNumberOf(text, { least: 1000, most: 600_000 }),
  },
  headerTimeoutMs: {
    name: 'SLUICE_HEADER_TIMEOUT_MS',
    fallback: 15_000,
    shownDefault: '15000',
    form: 'milliseconds, 100 to 600000',
    meaning: 'How long a client may take to send the head of a request.',
    parse: (text) => wholeNumberOf(text, { least: 100, most: 600_000 }),
  },
  bodyIdleTimeoutMs: {
    name: 'SLUICE_BODY_IDLE_TIMEOUT_MS',
    fallback: 30_000,
    shownDefault: '30000',
    form: 'milliseconds, 100 to 600000',
    meaning: 'How long a client may pause while it sends a body.',
    parse: (text) => wholeNumberOf(text, { least: 100, most: 600_000 }),
  },
  clientStallTimeoutMs: {
    name: 'SLUICE_CLIENT_STALL_TIMEOUT_MS',
    fallback: 120_000,
    shownDefault: '120000',
    form: 'milliseconds, 1000 to 3600000',
    meaning: 'How long a client may read nothing of its answer before it counts as gone.',
    parse: (text) => wholeNumberOf(text, { least: 1000, most: 3_600_000 }),
  },
  keepAliveTimeoutMs: {
    name: 'SLUICE_KEEP_ALIVE_TIMEOUT_MS',
    fallback: 75_000,
    shownDefault: '75000',
    form: 'milliseconds, 1000 to 3600000',
    meaning:
      'How long an idle client connection is kept. Longer than the idle time of a load balancer in front, or it meets closed connections.',
    parse: (text) => wholeNumberOf(text, { least: 1000, most: 3_600_000 }),
  },
} as const satisfies VariableTable

/** The value each row gives; `readConfig` turns them into a `Config`. */
export interface VariableValues {
  readonly dataDirectory: string
  readonly databaseUrl: Secret | undefined
  readonly blobUrl: S3Address | undefined
  readonly host: string | undefined
  readonly opsHost: string | undefined
  readonly port: number
  readonly gatewayPort: number
  readonly opsPort: number
  readonly publicUrl: string | undefined
  readonly gatewayUrl: string | undefined
  readonly secretKey: Secret | undefined
  readonly smtpUrl: Secret | undefined
  readonly mailFrom: string | undefined
  readonly smsUrl: Secret | undefined
  readonly phoneRegion: string | undefined
  readonly smsDayLimit: number
  readonly smsMonthLimit: number
  readonly smsCountries: readonly string[]
  readonly smsRefused: readonly string[]
  readonly registration: RegistrationRule
  readonly adminSecondFactor: FactorRule
  readonly signInServices: readonly Secret[]
  readonly stripeKey: Secret | undefined
  readonly stripeWebhookSecret: Secret | undefined
  readonly stripeUrl: string | undefined
  readonly gatewayFile: string | undefined
  readonly logLevel: LogLevel
  readonly securityLog: string | undefined
  readonly workers: number
  readonly fetchAllow: readonly string[]
  readonly httpsProxy: Secret | undefined
  readonly httpProxy: Secret | undefined
  readonly noProxy: readonly string[]
  readonly trustedProxies: readonly string[]
  readonly corsOrigins: readonly string[]
  readonly console: Switch
  readonly logRetentionDays: number
  readonly shutdownGraceMs: number
  readonly drainDelayMs: number
  readonly callDeadlineMs: number
  readonly videoDeadlineMs: number
  readonly backgroundDeadlineMs: number
  readonly bodyLimitBytes: number
  readonly bytesInFlightLimit: number
  readonly hungAfterMs: number
  readonly countsPerMinuteMax: number
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
}

type VariableTable = { readonly [Name in keyof VariableValues]: Variable<VariableValues[Name]> }

function senderOf(text: string): string {
  if (!/^[^<>@\r\n]*<[^<>@\s]+@[^<>@\s]+>$|^[^<>@\s]+@[^<>@\s]+$/.test(text))
    throw new UnusableValue('an e-mail address, or a name and the address in angle brackets')
  return text
}

function regionOf(text: string): string {
  if (!/^[A-Za-z]{2}$/.test(text)) throw new UnusableValue('a country code of two letters')
  return text.toUpperCase()
}

/** Countries as ISO 3166 has them, in capitals, or the first digits of numbers, with their +. */
function placesOf(text: string): readonly string[] {
  const places = text.split(/[\s,]+/).filter((place) => place !== '')
  return places.map((place) => {
    if (!/^(?:[A-Za-z]{2}|\+[1-9]\d{0,14})$/.test(place))
      throw new UnusableValue(
        `country codes of two letters or prefixes like +86, separated by commas; ${place} is none`,
      )
    return place.toUpperCase()
  })
}

/** A publishable key is the other one of the pair, and cannot ask for anything. */
function stripeKeyOf(text: string): Secret {
  if (/\s/.test(text) || text.startsWith('pk_'))
    throw new UnusableValue('a secret key (sk_…) or a restricted one (rk_…), not a publishable one')
  return new Secret(text)
}

/** Each is parsed by what knows the service. */
function secretsOf(text: string): readonly Secret[] {
  return text
    .split(/\s+/)
    .filter((part) => part !== '')
    .map((part) => new Secret(part))
}

function wholeNumberOf(text: string, bounds: { readonly least: number; readonly most: number }): number {
  const value = /^\d{1,16}$/.test(text) ? Number(text) : Number.NaN
  if (!(value >= bounds.least && value <= bounds.most)) {
    throw new UnusableValue(`a whole number from ${bounds.least} to ${bounds.most}`)
  }
  return value
}

function portOf(text: string): number {
  return wholeNumberOf(text, { least: 0, most: 65_535 })
}

function hostOf(text: string): string {
  if (/[\s/]/.test(text)) throw new UnusableValue('an IP address or a host name, without scheme or path')
  return text
}

function wordOf<Word extends string>(text: string, words: readonly Word[]): Word {
  const word = words.find((candidate) => candidate === text.toLowerCase())
  if (word === undefined) throw new UnusableValue(`one of ${words.join(', ')}`)
  return word
}

function urlOf(text: string, schemes: readonly string[]): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url === undefined || !schemes.includes(url.protocol)) {
    throw new UnusableValue(
      `an address that begins with ${schemes.map((scheme) => `${scheme}//`).join(' or ')}`,
    )
  }
  return url
}

/** Kept as written: it may hold a password, and its reader parses it once more. */
function secretUrlOf(text: string, schemes: readonly string[]): Secret {
  urlOf(text, schemes)
  return new Secret(text)
}

/** Many write it without a scheme. */
function proxyOf(text: string): Secret {
  return secretUrlOf(text.includes('://') ? text : `http://${text}`, ['http:', 'https:'])
}

function hostsOf(text: string): readonly string[] {
  const hosts = text.split(/[\s,]+/).filter((host) => host !== '')
  const wrong = hosts.find((host) => host.includes('://') || (host.includes('/') && !isAddressRange(host)))
  if (wrong !== undefined) {
    throw new UnusableValue(`hosts, domains or CIDR networks separated by commas; ${wrong} is none`)
  }
  return hosts
}

function blobUrlOf(text: string): S3Address {
  const address = readBlobUrl(urlOf(text, ['s3:']))
  if (isMistakes(address)) throw new UnusableValue(`an address of an S3 store: ${address.join('; ')}`)
  return address
}

function isMistakes(address: S3Address | readonly string[]): address is readonly string[] {
  return Array.isArray(address)
}

/** Without a slash at the end, so that a path can be put behind it. */
function addressOf(text: string): string {
  const url = urlOf(text, ['http:', 'https:'])
  if (url.search !== '' || url.hash !== '') throw new UnusableValue('an address without query and fragment')
  return url.href.replace(/\/+$/, '')
}

function secretKeyOf(text: string): Secret {
  if (text.length < 16)
    throw new UnusableValue('32 bytes as base64 or hex, or at least 16 characters of text')
  return new Secret(text)
}

/** As browsers write them: lower case, without a path and without the port that goes without saying. */
function originsOf(text: string): readonly string[] {
  const origins = text.split(/[\s,]+/).filter((origin) => origin !== '')
  return origins.map((origin) => {
    if (origin === '*') return origin
    // Pages of apps have schemes of their own, which URL gives no origin.
    if (!/^[a-z][a-z0-9+.-]*:\/\/[^\s/?#@]+$/i.test(origin) || !URL.canParse(origin))
      throw new UnusableValue(
        `origins separated by commas (https://app.example.com), or *; ${origin} is none`,
      )
    return /^https?:/i.test(origin) ? new URL(origin).origin : origin.toLowerCase()
  })
}

function rangesOf(text: string): readonly string[] {
  const ranges = text.split(/[\s,]+/).filter((range) => range !== '')
  const wrong = ranges.find((range) => !isAddressRange(range))
  if (wrong !== undefined) {
    throw new UnusableValue(`CIDR ranges separated by commas (10.0.0.0/8, fd00::/8); ${wrong} is none`)
  }
  return ranges
}
