/** A gateway in the process of the test, before the built pages: it starts in a fraction of what a process of its own takes. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Prepare, startGateway } from '../../server/src/app/start-gateway.ts'
import { readConfig } from '../../server/src/config/environment.ts'
import { prepareFirstRun } from '../../server/src/management/accounts/first-run.ts'
import { openSession } from '../../server/src/management/identity/sessions/sessions.ts'
import { vendorKinds } from '../../server/src/providers/index.ts'
import type { Storage } from '../../server/src/storage/storage.ts'
import { openMailbox } from '../../server/test/notify/mailbox.ts'
import { putMigratedDatabase } from '../../server/test/storage/migrated-database.ts'
import { gatewayFile, type JourneyGateway } from './gateway.ts'

export interface OptionsHere {
  readonly file?: object
  /** Beside what every one of them has. */
  readonly environment?: Readonly<Record<string, string>>
  /** How long ago the sessions began that `signIn` opens; now when absent. */
  readonly sessionAgeMs?: number
}

/** Mails and payments name its address. */
export async function openGatewayHere({
  file,
  environment,
  sessionAgeMs = 0,
}: OptionsHere = {}): Promise<JourneyGateway> {
  const directory = mkdtempSync(join(tmpdir(), 'sluice-console-'))
  const dataDirectory = join(directory, 'data')
  await mkdir(dataDirectory, { mode: 0o700 })
  await putMigratedDatabase(dataDirectory)
  const path = join(directory, 'gateway.json')
  writeFileSync(path, JSON.stringify(file ?? gatewayFile()))
  const mailbox = await openMailbox()
  const port = await portOfThread()
  // Passkeys are bound to a name; the address of loopback has none.
  const baseUrl = `http://localhost:${port}`
  const config = readConfig({
    SLUICE_DATA_DIR: dataDirectory,
    SLUICE_CONFIG: path,
    SLUICE_HOST: '127.0.0.1',
    SLUICE_PORT: String(port),
    SLUICE_GATEWAY_PORT: '0',
    SLUICE_LOG_LEVEL: 'silent',
    SLUICE_SMTP_URL: mailbox.url,
    SLUICE_MAIL_FROM: 'sluice@example.com',
    SLUICE_PUBLIC_URL: baseUrl,
    ...environment,
  })
  let opened: Storage | undefined
  const prepare: Prepare = async ({ storage, now }) => {
    opened = storage
    await prepareFirstRun({
      storage,
      config,
      environment: {},
      workingDirectory: directory,
      kinds: vendorKinds,
      offer: [],
      at: now(),
    })
  }
  const running = await startGateway(config, prepare, { ops: false, environment: environment ?? {} })
  const storage = opened
  if (storage === undefined) throw new Error('the gateway started without a store')
  return {
    baseUrl,
    mailbox,
    async signIn({ email }) {
      const account = await storage.accounts.findByLogin({ email })
      if (account === undefined) throw new Error(`there is no account ${email}`)
      const { token } = await openSession(
        storage,
        {
          accountId: account.id,
          method: 'password',
          secondFactor: false,
          userAgent: 'a test',
          address: '127.0.0.1',
        },
        Date.now() - sessionAgeMs,
      )
      return token.unwrap()
    },
    async close() {
      await running.stop()
      await mailbox.close()
      rmSync(directory, { recursive: true })
    },
  }
}

/** Below the ports that a system gives to whoever asks for any. */
const PORTS = { least: 20_000, count: 10_000 }
let port: number | undefined

/** The same for each gateway of this thread while it is free: what a browser has compiled of an address is used again. */
async function portOfThread(): Promise<number> {
  while (port === undefined || !(await isFree(port)))
    port = PORTS.least + Math.floor(Math.random() * PORTS.count)
  return port
}

function isFree(candidate: number): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const server = createServer()
    server.once('error', (error) =>
      'code' in error && error.code === 'EADDRINUSE' ? resolve(false) : reject(error),
    )
    server.listen(candidate, '127.0.0.1', () => server.close(() => resolve(true)))
  })
}
