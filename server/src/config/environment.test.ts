import { describe, expect, test } from 'vitest'
import { VARIABLES } from './environment-variables.ts'
import { ConfigError, type Environment, readConfig } from './environment.ts'

describe('an empty environment has a working default for everything', () => {
  const config = readConfig({}, '/srv/sluice')
  test.each([
    ['the data directory is ./data', config.dataDirectory, '/srv/sluice/data'],
    [
      'the database is SQLite in the data directory',
      config.database,
      { kind: 'sqlite', file: '/srv/sluice/data/sluice.db' },
    ],
    ['blobs lie in the data directory', config.blob, { kind: 'disk', directory: '/srv/sluice/data/blobs' }],
    ['base_url is port 8080', config.port, 8080],
    ['gateway_base_url is port 8081', config.gatewayPort, 8081],
    ['the ops port is 9090', config.opsPort, 9090],
    ['the two addresses have ports of their own', config.sharedPort, false],
    ['no private address may be fetched', config.fetchAllow, []],
    ['the body limit is 100 MiB', config.bodyLimitBytes, 104_857_600],
    ['nobody signs in through another service', config.signInServices, []],
    ['what would be mailed has no server', config.smtpUrl, undefined],
    ['there is nothing to warn of', config.warnings, []],
  ])('%s', (_sentence, found, expected) => {
    expect(found).toEqual(expected)
  })

  test('the whole value is frozen', () => {
    expect(Object.isFrozen(config)).toBe(true)
    expect(Object.values(config).every((part) => typeof part !== 'object' || Object.isFrozen(part))).toBe(
      true,
    )
  })
})

describe('a variable that is set is taken', () => {
  test.each<[string, Environment, object]>([
    [
      'ports may be 0',
      { SLUICE_PORT: '0', SLUICE_GATEWAY_PORT: '0', SLUICE_OPS_PORT: '0' },
      { port: 0, gatewayPort: 0, opsPort: 0, sharedPort: false },
    ],
    [
      'one port serves both addresses when a gateway host is named',
      { SLUICE_PORT: '80', SLUICE_GATEWAY_PORT: '80', SLUICE_GATEWAY_URL: 'https://gateway.example.com/' },
      { sharedPort: true, gatewayUrl: 'https://gateway.example.com' },
    ],
    [
      'origins are written as browsers write them',
      { SLUICE_CORS_ORIGINS: 'HTTPS://App.Example.com:443, http://localhost:5173 tauri://localhost' },
      { corsOrigins: ['https://app.example.com', 'http://localhost:5173', 'tauri://localhost'] },
    ],
    ['every origin may call', { SLUICE_CORS_ORIGINS: '*' }, { corsOrigins: ['*'] }],
    ['a country may be left out of phone numbers', { SLUICE_PHONE_REGION: 'cn' }, { phoneRegion: 'CN' }],
    [
      'a relative data directory is relative to the working directory',
      { SLUICE_DATA_DIR: 'state' },
      { dataDirectory: '/srv/state' },
    ],
    [
      'a relative gateway file is relative to the working directory',
      { SLUICE_CONFIG: 'g.yaml' },
      { gatewayFile: '/srv/g.yaml' },
    ],
    [
      'what is reached without the proxies of the environment, under the other usual name too',
      { no_proxy: 'localhost, .example.com 10.0.0.0/8' },
      { noProxy: ['localhost', '.example.com', '10.0.0.0/8'] },
    ],
    ['an empty variable counts as not set', { SLUICE_PORT: ' ' }, { port: 8080 }],
    [
      'blobs may lie in S3',
      { SLUICE_BLOB_URL: 's3://videos/sluice?endpoint=http://minio:9000&path_style=true' },
      {
        blob: {
          kind: 's3',
          bucket: 'videos',
          prefix: 'sluice',
          endpoint: 'http://minio:9000',
          region: undefined,
          pathStyle: true,
          credentials: undefined,
        },
      },
    ],
    [
      'fetchable ranges are a list',
      { SLUICE_FETCH_ALLOW: '10.0.0.0/8, fd00::/8' },
      { fetchAllow: ['10.0.0.0/8', 'fd00::/8'] },
    ],
    ['the log level is a word in any case', { SLUICE_LOG_LEVEL: 'DEBUG' }, { logLevel: 'debug' }],
  ])('%s', (_sentence, environment, expected) => {
    expect(readConfig(environment, '/srv')).toMatchObject(expected)
  })

  test('a PostgreSQL address is kept as a secret', () => {
    const config = readConfig({ SLUICE_DATABASE_URL: 'postgres://sluice:hunter2@db/sluice' }, '/srv')
    expect(config.database.kind === 'postgres' && config.database.url.unwrap()).toContain('hunter2')
    expect(JSON.stringify(config)).not.toContain('hunter2')
  })

  test('an unknown variable is a warning with the nearest name', () => {
    const config = readConfig({ SLUICE_GATWAY_PORT: '1' }, '/srv')
    expect(config.warnings).toEqual([
      'SLUICE_GATWAY_PORT is set, but there is no such setting; did you mean SLUICE_GATEWAY_PORT?',
    ])
  })

  test('a proxy may be written without a scheme and in small letters, and its password is shown nowhere', () => {
    const config = readConfig(
      { https_proxy: 'me:pw@proxy.example:3128', HTTP_PROXY: 'https://other:1' },
      '/srv',
    )
    expect(config.httpsProxy?.unwrap()).toBe('http://me:pw@proxy.example:3128')
    expect(config.httpProxy?.unwrap()).toBe('https://other:1')
    expect(JSON.stringify(config)).not.toContain('pw')
  })
})

describe('an unusable value is refused with the name of the variable', () => {
  test.each<[Environment, string]>([
    [{ SLUICE_PORT: 'http' }, 'SLUICE_PORT must be a whole number from 0 to 65535, not "http"'],
    [
      { HTTPS_PROXY: 'socks5://me:pw@proxy:1080' },
      'HTTPS_PROXY must be an address that begins with http:// or https://',
    ],
    [
      { NO_PROXY: 'https://inside.example.com' },
      'NO_PROXY must be hosts, domains or CIDR networks separated by commas; https://inside.example.com is none, not "https://inside.example.com"',
    ],
    [{ SLUICE_OPS_PORT: '70000' }, 'SLUICE_OPS_PORT must be a whole number from 0 to 65535, not "70000"'],
    [{ SLUICE_WORKERS: '0' }, 'SLUICE_WORKERS must be a whole number from 1 to 256, not "0"'],
    [
      { SLUICE_LOG_LEVEL: 'loud' },
      'SLUICE_LOG_LEVEL must be one of fatal, error, warn, info, debug, trace, silent, not "loud"',
    ],
    [
      { SLUICE_DATABASE_URL: 'mysql://root:pw@db/x' },
      'SLUICE_DATABASE_URL must be an address that begins with postgres:// or postgresql://',
    ],
    [
      { SLUICE_SMTP_URL: 'smtp://user:pw@mail.example.com' },
      'SLUICE_MAIL_FROM must be set when SLUICE_SMTP_URL is: mails need a sender',
    ],
    [
      { SLUICE_SMTP_URL: 'https://user:pw@mail.example.com' },
      'SLUICE_SMTP_URL must be an address that begins with smtp:// or smtps://',
    ],
    [
      { SLUICE_MAIL_FROM: 'nobody' },
      'SLUICE_MAIL_FROM must be an e-mail address, or a name and the address in angle brackets, not "nobody"',
    ],
    [
      { SLUICE_PHONE_REGION: 'China' },
      'SLUICE_PHONE_REGION must be a country code of two letters, not "China"',
    ],
    [
      { SLUICE_SIGN_IN: 'oidc://id:pw@issuer.example' },
      'SLUICE_PUBLIC_URL must be set when SLUICE_SIGN_IN is: other services send people back to it',
    ],
    [
      { SLUICE_STRIPE_KEY: 'sk_1', SLUICE_PUBLIC_URL: 'https://a.example' },
      'SLUICE_STRIPE_KEY and SLUICE_STRIPE_WEBHOOK_SECRET must be set together: payments are reported by webhooks',
    ],
    [
      { SLUICE_STRIPE_KEY: 'sk_1', SLUICE_STRIPE_WEBHOOK_SECRET: 'whsec_1' },
      'SLUICE_PUBLIC_URL must be set when SLUICE_STRIPE_KEY is: Stripe sends people back to it',
    ],
    [
      { SLUICE_STRIPE_KEY: 'pk_1' },
      'SLUICE_STRIPE_KEY must be a secret key (sk_…) or a restricted one (rk_…), not a publishable one',
    ],
    [{ SLUICE_BLOB_URL: '/var/blobs' }, 'SLUICE_BLOB_URL must be an address that begins with s3://'],
    [
      { SLUICE_BLOB_URL: 's3://videos:1?path_style=s3cr3t' },
      'SLUICE_BLOB_URL must be an address of an S3 store: a port belongs to the endpoint; path_style is neither true nor false',
    ],
    [
      { SLUICE_PUBLIC_URL: 'example.com' },
      'SLUICE_PUBLIC_URL must be an address that begins with http:// or https://, not "example.com"',
    ],
    [
      { SLUICE_SECRET_KEY: 'short' },
      'SLUICE_SECRET_KEY must be 32 bytes as base64 or hex, or at least 16 characters of text',
    ],
    [
      { SLUICE_FETCH_ALLOW: '10.0.0.0/33' },
      'SLUICE_FETCH_ALLOW must be CIDR ranges separated by commas (10.0.0.0/8, fd00::/8); 10.0.0.0/33 is none, not "10.0.0.0/33"',
    ],
    [
      { SLUICE_PORT: '80', SLUICE_GATEWAY_PORT: '80' },
      'SLUICE_GATEWAY_URL must be set when SLUICE_PORT and SLUICE_GATEWAY_PORT are the same: its host name tells the two addresses apart',
    ],
    [
      { SLUICE_OPS_PORT: '8080' },
      'SLUICE_OPS_PORT must be another port than SLUICE_PORT and SLUICE_GATEWAY_PORT',
    ],
    [
      { SLUICE_CORS_ORIGINS: 'https://app.example.com/path' },
      'SLUICE_CORS_ORIGINS must be origins separated by commas (https://app.example.com), or *; https://app.example.com/path is none, not "https://app.example.com/path"',
    ],
    [
      { SLUICE_BYTES_IN_FLIGHT_LIMIT: '2048' },
      'SLUICE_BYTES_IN_FLIGHT_LIMIT must be at least SLUICE_BODY_LIMIT_BYTES',
    ],
  ])('%j', (environment, sentence) => {
    expect(mistakesOf(environment)).toEqual([sentence])
  })

  test('all errors are reported together', () => {
    expect(mistakesOf({ SLUICE_PORT: 'x', SLUICE_WORKERS: 'y', SLUICE_LOG_LEVEL: 'z' })).toHaveLength(3)
  })
})

test('every variable explains itself in the reference', () => {
  for (const variable of Object.values(VARIABLES)) {
    expect(variable.name).toMatch(/^(SLUICE_[A-Z_]+|HTTPS?_PROXY|NO_PROXY)$/)
    expect(variable.meaning).toMatch(/\.$/)
  }
})

function mistakesOf(environment: Environment): readonly string[] {
  try {
    readConfig(environment, '/srv')
  } catch (error) {
    if (error instanceof ConfigError) return error.mistakes
    throw error
  }
  return []
}
