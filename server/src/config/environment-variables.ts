/**
 * Every environment variable the gateway reads, one row each. `readConfig` reads through this table and
 * `docs/reference/configuration.md` is generated from it, so both have the same variables. Long because the table is
 * long.
 */
import { resolve } from 'node:path'
import { Secret } from '../core/secret.ts'
import {
  type Variable,
  addressOf,
  blobUrlOf,
  hostOf,
  hostsOf,
  originsOf,
  placesOf,
  port,
  proxyOf,
  rangesOf,
  regionOf,
  secretKeyOf,
  secretUrlOf,
  secretsOf,
  senderOf,
  stripeKeyOf,
  wholeNumber,
  word,
} from './variable-forms.ts'

/** Who may register. */
export const REGISTRATIONS = ['open', 'invited', 'closed'] as const
export type RegistrationRule = (typeof REGISTRATIONS)[number]

const FACTOR_RULES = ['optional', 'required'] as const

const SWITCH = ['on', 'off'] as const

export const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const

const MIB = 1024 * 1024

export const VARIABLES = {
  dataDirectory: {
    name: 'SLUICE_DATA_DIR',
    fallback: './data',
    shownDefault: './data',
    form: 'a directory',
    meaning:
      'The place of the secret key, the SQLite database and stored videos. Created (mode 0700) if missing.',
    parse: (text) => text,
  },
  databaseUrl: {
    name: 'SLUICE_DATABASE_URL',
    fallback: undefined,
    shownDefault: 'SQLite in the data directory',
    form: '`postgres://user:password@host:port/database`',
    meaning: 'Stores everything in PostgreSQL, so that several instances can share one database.',
    parse: (text) => secretUrlOf(text, ['postgres:', 'postgresql:']),
    secret: true,
  },
  blobUrl: {
    name: 'SLUICE_BLOB_URL',
    fallback: undefined,
    shownDefault: 'the data directory',
    form: '`s3://bucket/prefix?endpoint=…&region=…&path_style=true&access_key_id=…&secret_access_key=…`',
    meaning:
      'Stores finished videos and other large objects in an S3-compatible store. Everything after the bucket is optional: the default endpoint is Amazon’s, the default credentials and region are those of the usual AWS variables.',
    parse: blobUrlOf,
    secret: true,
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
      'The local address of the operator’s port, which needs no key: only this machine, unless probes and Prometheus run on another one.',
    parse: hostOf,
  },
  port: port({ name: 'SLUICE_PORT', usual: 8080, meaning: 'The public address (base_url): every path.' }),
  gatewayPort: port({
    name: 'SLUICE_GATEWAY_PORT',
    usual: 8081,
    meaning:
      'The gateway address (gateway_base_url), for keys bound to a protocol group. The same number as `SLUICE_PORT` (not 0) serves both addresses from one port, distinguished by the host name of `SLUICE_GATEWAY_URL`.',
  }),
  opsPort: port({
    name: 'SLUICE_OPS_PORT',
    usual: 9090,
    meaning: 'Health, readiness and metrics. Not meant for the internet.',
  }),
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
    shownDefault: 'generated once, in `secret.key` of the data directory',
    form: '32 bytes as base64 or hex, or any text of at least 16 characters',
    meaning:
      'Encrypts stored provider credentials and signs links. Must be the same on every instance; without it the stored credentials are lost. In hex: `openssl rand -hex 32`.',
    parse: secretKeyOf,
    secret: true,
  },
  smtpUrl: {
    name: 'SLUICE_SMTP_URL',
    fallback: undefined,
    shownDefault: 'none: codes by e-mail are printed to the log',
    form: '`smtp://user:password@host:587` or `smtps://user:password@host`',
    meaning: 'The mail server that sends verification codes and alerts. Needs `SLUICE_MAIL_FROM`.',
    parse: (text) => secretUrlOf(text, ['smtp:', 'smtps:']),
    secret: true,
  },
  mailFrom: {
    name: 'SLUICE_MAIL_FROM',
    fallback: undefined,
    shownDefault: 'none',
    form: '`name@example.com` or `Name <name@example.com>`',
    meaning: 'The sender of mails.',
    parse: senderOf,
  },
  smsUrl: {
    name: 'SLUICE_SMS_URL',
    fallback: undefined,
    shownDefault: 'none: codes by phone are printed to the log',
    form: '`aliyun://key-id:key-secret@dysmsapi.aliyuncs.com?sign=…&template=…`, `twilio://account-sid:token@api.twilio.com?from=+1…`, or `https://:signing-secret@host/path` of your own service',
    meaning: 'The service that sends verification codes to phones.',
    parse: (text) => secretUrlOf(text, ['aliyun:', 'twilio:', 'https:', 'http:']),
    secret: true,
  },
  phoneRegion: {
    name: 'SLUICE_PHONE_REGION',
    fallback: undefined,
    shownDefault: 'none: phone numbers need their `+` and country code',
    form: 'a country code of two letters, such as CN',
    meaning: 'The country of phone numbers written without one.',
    parse: regionOf,
  },
  smsDayLimit: wholeNumber({
    name: 'SLUICE_SMS_DAY_LIMIT',
    usual: 1_000,
    least: 0,
    most: 10_000_000,
    meaning:
      'How many text messages may be sent in a day (UTC). Registrations may use half of it, accounts that sign in from a new network four fifths, so that existing users always get their codes. At 80 % administrators get a mail.',
  }),
  smsMonthLimit: wholeNumber({
    name: 'SLUICE_SMS_MONTH_LIMIT',
    usual: 10_000,
    least: 0,
    most: 100_000_000,
    meaning: 'The same in a calendar month (UTC).',
  }),
  smsCountries: {
    name: 'SLUICE_SMS_COUNTRIES',
    fallback: [],
    shownDefault: 'every country',
    form: 'country codes (`CN`, `DE`) or prefixes (`+86`, `+1415`), separated by commas or blanks',
    meaning: 'Text messages are sent only to these.',
    parse: placesOf,
  },
  smsRefused: {
    name: 'SLUICE_SMS_REFUSED',
    fallback: [],
    shownDefault: 'none but satellite, international and premium numbers',
    form: 'as `SLUICE_SMS_COUNTRIES`',
    meaning:
      'No text message is sent to these. Satellite networks, international networks, premium rate, shared cost and pager numbers never get one, unless `SLUICE_SMS_COUNTRIES` names their prefix.',
    parse: placesOf,
  },
  registration: word({
    name: 'SLUICE_REGISTRATION',
    words: REGISTRATIONS,
    usual: 'open',
    meaning:
      'Who may create an account: everyone; only people whom an organisation has invited, with the invited address; or only administrators. It applies to e-mail, phones and other services alike.',
  }),
  adminSecondFactor: word({
    name: 'SLUICE_ADMIN_SECOND_FACTOR',
    words: FACTOR_RULES,
    usual: 'optional',
    meaning:
      '`required`: a session of an administrator without a second factor (authenticator app, passkey or recovery code) may only set one up. The command line needs none.',
  }),
  signInServices: {
    name: 'SLUICE_SIGN_IN',
    fallback: [],
    shownDefault: 'none',
    form: 'addresses separated by blanks: `oidc://client-id:client-secret@issuer.example/path?name=corp&label=Example`, `github://client-id:client-secret@github.com`',
    meaning:
      'Other services for sign-in. Register the redirect address `…/api/v1/user/user/sign-in/services/{name}/callback` with each; needs `SLUICE_PUBLIC_URL`.',
    parse: secretsOf,
    secret: true,
  },
  stripeKey: {
    name: 'SLUICE_STRIPE_KEY',
    fallback: undefined,
    shownDefault: 'none: no top-ups by card',
    form: 'a secret or restricted key of a Stripe account (`sk_…`, `rk_…`)',
    meaning:
      'Lets accounts top up by card, through Stripe Checkout. Needs `SLUICE_STRIPE_WEBHOOK_SECRET` and `SLUICE_PUBLIC_URL`. A restricted key needs only the right to write checkout sessions.',
    parse: stripeKeyOf,
    secret: true,
  },
  stripeWebhookSecret: {
    name: 'SLUICE_STRIPE_WEBHOOK_SECRET',
    fallback: undefined,
    shownDefault: 'none',
    form: 'the signing secret of a webhook endpoint (`whsec_…`)',
    meaning:
      'Verifies that webhooks at `…/api/v1/payments/stripe/webhook` come from Stripe. The endpoint must receive the events `checkout.session.*`, `charge.refunded`, `refund.*` and `charge.dispute.*`.',
    parse: (text) => new Secret(text),
    secret: true,
  },
  stripeUrl: {
    name: 'SLUICE_STRIPE_URL',
    fallback: undefined,
    shownDefault: '`https://api.stripe.com`',
    form: 'an http or https address',
    meaning: 'Another address of the Stripe API, such as a test server.',
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
  logLevel: word({
    name: 'SLUICE_LOG_LEVEL',
    words: LOG_LEVELS,
    usual: 'info',
    meaning: 'How much is logged. No level logs request content or secrets.',
  }),
  securityLog: {
    name: 'SLUICE_SECURITY_LOG',
    fallback: undefined,
    shownDefault: 'the log',
    form: 'a path to a file',
    meaning:
      'The file for security events, one JSON object per line: failed sign-ins, limits, refused addresses, changes. It is appended to and may be moved at any time.',
    parse: (text, workingDirectory) => resolve(workingDirectory, text),
  },
  workers: wholeNumber({
    name: 'SLUICE_WORKERS',
    usual: 1,
    least: 1,
    most: 256,
    meaning: 'Processes that share the listeners. More processes than cores are slower.',
  }),
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
      'The proxy for https addresses: vendors, webhooks, sign-in services and addresses named by clients. It is used with CONNECT, so it sees no content. Databases, S3 stores and mail servers are reached directly.',
    parse: proxyOf,
    secret: true,
  },
  httpProxy: {
    name: 'HTTP_PROXY',
    alias: 'http_proxy',
    fallback: undefined,
    shownDefault: 'none',
    form: 'as `HTTPS_PROXY`, also as `http_proxy`',
    meaning: 'The same for http addresses.',
    parse: proxyOf,
    secret: true,
  },
  noProxy: {
    name: 'NO_PROXY',
    alias: 'no_proxy',
    fallback: [],
    shownDefault: 'this machine itself',
    form: 'hosts, domains, addresses and CIDR networks, separated by commas or blanks; also as `no_proxy`',
    meaning:
      'Destinations that are reached without these proxies. A domain includes its subdomains, `host:8080` is one port, and `*` is everything.',
    parse: hostsOf,
  },
  trustedProxies: {
    name: 'SLUICE_TRUSTED_PROXIES',
    fallback: [],
    shownDefault: 'none',
    form: 'CIDR ranges, separated by commas or blanks',
    meaning:
      "Reverse proxies whose `X-Forwarded-For` is trusted, so that a key's address list is compared with the client's address, not the proxy's.",
    parse: rangesOf,
  },
  corsOrigins: {
    name: 'SLUICE_CORS_ORIGINS',
    fallback: [],
    shownDefault: 'none: no page of another site may call',
    form: 'origins such as `https://app.example.com`, separated by commas or blanks, or `*`',
    meaning:
      'Sites whose web pages may call models and list them from the browser (CORS). Every visitor of such a page can read the key it calls with. Everything under `/api` accepts only its own site.',
    parse: originsOf,
  },
  console: word({
    name: 'SLUICE_CONSOLE',
    words: SWITCH,
    usual: 'on',
    meaning:
      'Whether the public address serves the console, the web page at `/console` for customers and operators. `off` serves the API only.',
  }),
  logRetentionDays: wholeNumber({
    name: 'SLUICE_LOG_RETENTION_DAYS',
    usual: 0,
    least: 0,
    most: 36_500,
    shownDefault: '0: for ever',
    meaning: 'How many days the rows of the call log are kept. The ledger is kept for ever.',
  }),
  shutdownGraceMs: wholeNumber({
    name: 'SLUICE_SHUTDOWN_GRACE_MS',
    usual: 30_000,
    least: 0,
    most: 3_600_000,
    unit: 'milliseconds',
    meaning: 'How long a stopping process lets running calls end before it aborts and settles them.',
  }),
  drainDelayMs: wholeNumber({
    name: 'SLUICE_DRAIN_DELAY_MS',
    usual: 0,
    least: 0,
    most: 600_000,
    unit: 'milliseconds',
    meaning:
      'How long a stopping process still accepts calls while `/readyz` answers 503, so that a load balancer sends new ones elsewhere before the ports close. Set it a little longer than the balancer takes to notice.',
  }),
  callDeadlineMs: wholeNumber({
    name: 'SLUICE_CALL_DEADLINE_MS',
    usual: 900_000,
    least: 1000,
    most: 86_400_000,
    unit: 'milliseconds',
    meaning:
      'The longest a chat-type call may take, over all its attempts, and the longest any request body may take to arrive. Videos have their own deadline.',
  }),
  videoDeadlineMs: wholeNumber({
    name: 'SLUICE_VIDEO_DEADLINE_MS',
    usual: 3_600_000,
    least: 1_800_000,
    most: 86_400_000,
    unit: 'milliseconds',
    meaning: 'How long a video may take upstream; then the task fails with 504/50401 and costs nothing.',
  }),
  backgroundDeadlineMs: wholeNumber({
    name: 'SLUICE_BACKGROUND_DEADLINE_MS',
    usual: 3_600_000,
    least: 60_000,
    most: 86_400_000,
    unit: 'milliseconds',
    meaning:
      'How long a background response (`background: true`) may run; then it is cancelled upstream, and what was produced is charged.',
  }),
  bodyLimitBytes: wholeNumber({
    name: 'SLUICE_BODY_LIMIT_BYTES',
    usual: 100 * MIB,
    least: 1024,
    most: 100 * MIB,
    unit: 'bytes',
    shownDefault: '104857600 (100 MiB)',
    meaning: 'The largest request body, once it is decoded; a larger one is 413/41301.',
  }),
  bytesInFlightLimit: wholeNumber({
    name: 'SLUICE_BYTES_IN_FLIGHT_LIMIT',
    usual: 512 * MIB,
    least: 1024,
    most: Number.MAX_SAFE_INTEGER,
    form: 'bytes, at least the body limit',
    shownDefault: '536870912 (512 MiB)',
    meaning:
      'The sum of all request bodies one process holds; beyond it a request is refused with 503/50301 and `Retry-After`.',
  }),
  hungAfterMs: wholeNumber({
    name: 'SLUICE_HUNG_AFTER_MS',
    usual: 60_000,
    least: 5000,
    most: 3_600_000,
    unit: 'milliseconds',
    meaning:
      'How long the thread that serves calls may be silent before `/healthz` answers 503, so that the process is restarted; with several workers a silent one is killed and replaced.',
  }),
  countsPerMinuteMax: wholeNumber({
    name: 'SLUICE_TOKEN_COUNTS_PER_MINUTE',
    usual: 600,
    least: 0,
    most: 1_000_000,
    meaning:
      'How many token counts (`count_tokens`, `input_tokens`, `:countTokens`) an account may request per minute on one instance; more are 429/42902. Counting is free, so it has its own window.',
  }),
  bodyMembersMax: wholeNumber({
    name: 'SLUICE_BODY_MEMBERS_LIMIT',
    usual: 500_000,
    least: 1000,
    most: 10_000_000,
    meaning:
      'How many members of objects and items of arrays the JSON body of a call may hold, at every depth; more are 400/40000. The cost of parsing them grows faster than their size.',
  }),
  bodyMessagesMax: wholeNumber({
    name: 'SLUICE_BODY_MESSAGES_LIMIT',
    usual: 50_000,
    least: 1,
    most: 10_000_000,
    meaning:
      'How many messages (`messages`, `input`, `contents`) the body of a call may hold; more are 400/40000.',
  }),
  bodyDepthMax: wholeNumber({
    name: 'SLUICE_BODY_DEPTH_LIMIT',
    usual: 200,
    least: 16,
    most: 1000,
    meaning: 'How deep arrays and objects may be nested in the JSON body of a call; deeper is 400/40000.',
  }),
  headerLimitBytes: wholeNumber({
    name: 'SLUICE_HEADER_LIMIT_BYTES',
    usual: 32_768,
    least: 4096,
    most: MIB,
    unit: 'bytes',
    meaning: 'The largest head of a request (request line and headers); a larger one is 431.',
  }),
  headersMax: wholeNumber({
    name: 'SLUICE_HEADER_COUNT_LIMIT',
    usual: 256,
    least: 16,
    most: 10_000,
    meaning: 'How many headers a request may have; more are 431.',
  }),
  connectionsMax: wholeNumber({
    name: 'SLUICE_CONNECTIONS_LIMIT',
    usual: 20_000,
    least: 16,
    most: 1_000_000,
    meaning:
      'How many client connections one process holds; one more is answered 503/50301 and closed. The limit of open files of the process must allow twice as many.',
  }),
  connectionsPerAddressMax: wholeNumber({
    name: 'SLUICE_CONNECTIONS_PER_ADDRESS_LIMIT',
    usual: 2_000,
    least: 1,
    most: 1_000_000,
    meaning:
      'How many connections of one address (IPv6: one /64) a process holds; one more is answered 429/42908 and closed. A proxy named in `SLUICE_TRUSTED_PROXIES` may hold any number: for it, the simultaneous requests of each forwarded address are counted.',
  }),
  managementBodyTimeoutMs: wholeNumber({
    name: 'SLUICE_MANAGEMENT_BODY_TIMEOUT_MS',
    usual: 30_000,
    least: 1000,
    most: 600_000,
    unit: 'milliseconds',
    meaning: 'How long the body of a request to the management API (at most 1 MiB) may take to arrive.',
  }),
  headerTimeoutMs: wholeNumber({
    name: 'SLUICE_HEADER_TIMEOUT_MS',
    usual: 15_000,
    least: 100,
    most: 600_000,
    unit: 'milliseconds',
    meaning: 'How long a client may take to send the head of a request.',
  }),
  bodyIdleTimeoutMs: wholeNumber({
    name: 'SLUICE_BODY_IDLE_TIMEOUT_MS',
    usual: 30_000,
    least: 100,
    most: 600_000,
    unit: 'milliseconds',
    meaning: 'How long a client may pause while it sends a body.',
  }),
  clientStallTimeoutMs: wholeNumber({
    name: 'SLUICE_CLIENT_STALL_TIMEOUT_MS',
    usual: 120_000,
    least: 1000,
    most: 3_600_000,
    unit: 'milliseconds',
    meaning: 'How long a client may stop reading its answer before it counts as disconnected.',
  }),
  keepAliveTimeoutMs: wholeNumber({
    name: 'SLUICE_KEEP_ALIVE_TIMEOUT_MS',
    usual: 75_000,
    least: 1000,
    most: 3_600_000,
    unit: 'milliseconds',
    meaning:
      'How long an idle client connection is kept. Must be longer than the idle time of a load balancer in front, or it sends requests on closed connections.',
  }),
  fastLane: word({
    name: 'SLUICE_FAST_LANE',
    usual: 'on',
    words: SWITCH,
    meaning:
      'Whether calls whose head has no second meaning are read from their connections directly, which saves CPU. `off`: Node reads all requests.',
  }),
} as const satisfies Readonly<Record<string, Variable<unknown>>>

type Table = typeof VARIABLES

/** The values of all rows. */
export type VariableValues = {
  readonly [Name in keyof Table]: ReturnType<Table[Name]['parse']> | Table[Name]['fallback']
}
