/** A whole gateway in this process: real sockets, a real SQLite file, scripted upstreams. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readConfig } from '../../src/config/environment.ts'
import type { CallLogRow } from '../../src/core/ledger/log-row.ts'
import type { Chain, Group, ModelFields, Pricing } from '../../src/core/catalogue.ts'
import { type AccountId, type KeyId, forwardModelId, modelId, vendorCode } from '../../src/core/ids.ts'
import { type Policy, UNLIMITED } from '../../src/core/limits/policy.ts'
import { microCredits } from '../../src/core/money.ts'
import { Secret } from '../../src/core/secret.ts'
import { createAccount } from '../../src/management/accounts/accounts.ts'
import { grantOpening } from '../../src/management/money/grants.ts'
import { openSession } from '../../src/management/identity/sessions/sessions.ts'
import { createKey, type KeyRequest, UNRESTRICTED_KEY } from '../../src/management/keys/keys.ts'
import { type Prepare, type RunningGateway, startGateway } from '../../src/app/start-gateway.ts'
import type { CatalogueChange } from '../../src/storage/stores/records.ts'
import type { Storage } from '../../src/storage/storage.ts'
import { putMigratedDatabase } from '../storage/migrated-database.ts'
import type { Account, AccountPatch } from '../../src/storage/stores/accounts.ts'

/** Vendors ask to be polled every five seconds or so; tests do not wait that long. */
const POLL_PACE = 0.002
/** What is not there by then never comes, however busy the machine is. */
export const PATIENCE_MS = 60_000

export interface GatewayOptions {
  /** Epoch ms by this gateway's clock; the real one where absent. */
  readonly now?: () => number
  readonly environment?: Readonly<Record<string, string>>
  /** True where a test asks the operator's port, which is a thread of its own. */
  readonly ops?: boolean
  /** Address of the account made at start; another one for each instance on a shared database. */
  readonly owner?: string
}

export interface TestGateway {
  readonly running: RunningGateway
  readonly baseUrl: string
  readonly gatewayUrl: string
  readonly opsUrl: string
  readonly storage: Storage
  /** A funded account's unrestricted key, made at start. */
  readonly key: string
  readonly keyId: KeyId
  readonly accountId: AccountId
  /** Puts rows into the catalogue and waits until the running gateway sees them. */
  catalogue(...changes: readonly CatalogueChange[]): Promise<void>
  newAccount(
    options?: NewAccount,
  ): Promise<{ readonly id: AccountId; readonly key: string; readonly keyId: KeyId }>
  /** Resolves when no video task runs any more. */
  videosEnded(): Promise<void>
  newKey(
    account: AccountId,
    fields?: Partial<KeyRequest>,
  ): Promise<{ readonly key: string; readonly keyId: KeyId }>
  /** A session of the account, without its password: the first account's when absent. */
  signIn(account?: AccountId): Promise<SignedIn>
  /** An account of role admin, signed in. */
  newAdmin(options?: NewAccount): Promise<SignedIn & { readonly id: AccountId }>
  account(id?: AccountId): Promise<Account>
  /** Every chain is well again. */
  resetHealth(): Promise<void>
  /** The newest log rows, once every running call has been settled. */
  logs(limit?: number): Promise<readonly CallLogRow[]>
  /** The newest log row. */
  lastLog(): Promise<CallLogRow>
  /** Resolves when no call is open any more. */
  settled(): Promise<void>
  /** Settles, verifies the ledger and checks that no hold and no slot is left; then stops. */
  close(): Promise<void>
}

export interface SignedIn {
  /** As programs send it. */
  readonly headers: { readonly authorization: string }
  readonly token: string
  readonly sessionId: string
}

export interface NewAccount extends AccountPatch {
  /** Whole Credits. */
  readonly credits?: number
  readonly keyFields?: Partial<KeyRequest>
}

export async function openGateway(options: GatewayOptions = {}): Promise<TestGateway> {
  const dataDirectory = await mkdtemp(join(tmpdir(), 'sluice-test-'))
  await putMigratedDatabase(dataDirectory)
  const config = readConfig({
    SLUICE_DATA_DIR: dataDirectory,
    SLUICE_HOST: '127.0.0.1',
    SLUICE_PORT: '0',
    SLUICE_GATEWAY_PORT: '0',
    SLUICE_OPS_PORT: '0',
    SLUICE_LOG_LEVEL: 'silent',
    ...options.environment,
  })
  let storage: Storage | undefined
  const prepare: Prepare = async (pipeline) => {
    storage = pipeline.storage
    await pipeline.storage.catalogue.apply([
      {
        kind: 'put-settings',
        settings: {
          currency: 'CNY',
          creditsPerUnit: '1000',
          otherCurrencies: { USD: '7200' },
          timezone: 'Asia/Shanghai',
          keyPrefix: 'sk-gateway-',
          limits: UNLIMITED,
        },
      },
    ])
  }
  const running = await startGateway(config, prepare, {
    ops: options.ops ?? false,
    environment: options.environment ?? {},
    timing: { now: options.now ?? Date.now, pollPace: POLL_PACE },
  })
  if (storage === undefined) throw new Error('the gateway started without a store')
  return finish({ running, storage, dataDirectory, owner: options.owner ?? 'owner@example.com' })
}

async function finish(parts: {
  readonly running: RunningGateway
  readonly storage: Storage
  readonly dataDirectory: string
  readonly owner: string
}): Promise<TestGateway> {
  const { running, storage, dataDirectory } = parts
  const { pipeline } = running

  async function newKey(account: AccountId, fields: Partial<KeyRequest> = {}) {
    const created = await createKey(storage, keyRequest(account, fields), Date.now())
    if (created.kind !== 'created') throw new Error(`no key: ${JSON.stringify(created)}`)
    return { key: created.plaintext.unwrap(), keyId: created.key.id }
  }

  async function newAccount({ credits = 1_000_000, keyFields, ...patch }: NewAccount = {}) {
    const id = await createAccount(
      storage,
      { email: `${Math.random().toString(36).slice(2)}@example.com`, ...patch },
      Date.now(),
    )
    await grantOpening(
      storage,
      id,
      { credits: microCredits(BigInt(credits) * 1_000_000n), balance: microCredits(0n) },
      Date.now(),
    )
    return { id, ...(await newKey(id, keyFields)) }
  }

  async function signIn(accountId: AccountId): Promise<SignedIn> {
    const { session, token } = await openSession(
      storage,
      {
        accountId,
        method: 'password',
        secondFactor: false,
        userAgent: 'a test',
        address: '127.0.0.1',
      },
      pipeline.now(),
    )
    return {
      headers: { authorization: `Bearer ${token.unwrap()}` },
      token: token.unwrap(),
      sessionId: session.id,
    }
  }

  async function settled(): Promise<void> {
    const until = Date.now() + PATIENCE_MS
    for (;;) {
      await pipeline.telemetry.background.drain(1_000)
      const open = running.openCalls()
      if (open === 0) return
      if (Date.now() > until) throw new Error(`${open} calls are still running`)
      await new Promise((resolve) => setImmediate(resolve))
    }
  }

  /** No task runs any more: each has been settled or given back. */
  async function videosEnded(): Promise<void> {
    const until = Date.now() + PATIENCE_MS
    while ((await storage.videos.nextDue()) !== undefined) {
      if (Date.now() > until) throw new Error('a video task is still running')
      await new Promise((resolve) => setTimeout(resolve, 10))
    }
    await settled()
  }

  const first = await newAccount({ email: parts.owner })
  return {
    running,
    baseUrl: running.baseUrl,
    gatewayUrl: running.gatewayBaseUrl,
    get opsUrl() {
      if (running.opsUrl === undefined) throw new Error('this gateway was opened without `ops`')
      return running.opsUrl
    },
    storage,
    key: first.key,
    keyId: first.keyId,
    accountId: first.id,
    async catalogue(...changes) {
      await storage.catalogue.apply(changes)
      await pipeline.refreshCatalogue()
    },
    videosEnded,
    newAccount,
    newKey,
    signIn: (account = first.id) => signIn(account),
    async newAdmin(options) {
      const { id } = await newAccount({ ...options, role: 'admin' })
      return { id, ...(await signIn(id)) }
    },
    async resetHealth() {
      for (const model of (await storage.catalogue.read()).models.values()) {
        for (const chain of model.chains) pipeline.health.reset(chain.id)
      }
    },
    async account(id = first.id) {
      const found = await storage.accounts.find(id)
      if (found === undefined) throw new Error(`no account ${id}`)
      return found
    },
    async logs(limit = 50) {
      await settled()
      return (await storage.logs.page({}, { limit, cursor: undefined })).rows
    },
    async lastLog() {
      await settled()
      const [row] = (await storage.logs.page({}, { limit: 1, cursor: undefined })).rows
      if (row === undefined) throw new Error('the log is empty')
      return row
    },
    settled,
    async close() {
      try {
        await videosEnded()
        if (pipeline.bodyBudget.used !== 0)
          throw new Error(`${pipeline.bodyBudget.used} bytes of bodies were never given back`)
        const differences = await storage.ledger.verify()
        if (differences.length > 0)
          throw new Error(`the ledger does not verify: ${JSON.stringify(differences)}`)
        for (const account of await storage.accounts.list({ limit: 500, after: undefined })) {
          if (account.held !== 0n) throw new Error(`account ${account.id} still holds ${account.held} µCr`)
        }
      } finally {
        await running.stop()
        await rm(dataDirectory, { recursive: true, force: true })
      }
    },
  }
}

function keyRequest(accountId: AccountId, fields: Partial<KeyRequest>): KeyRequest {
  return { ...UNRESTRICTED_KEY, accountId, name: 'test', ...fields }
}

export const TOKEN_PRICES: Pricing = {
  currency: 'CNY',
  billingModes: ['token'],
  inputPrice: '10',
  outputPrice: '30',
  cacheInputPrice: '1',
  cacheOutputPrice: null,
  cacheWritePrice: null,
  cacheWrite1hPrice: null,
  requestPrice: null,
  imagePrice: null,
  videoPrice: null,
  characterPrice: null,
  audioSecondPrice: null,
}

/** Every call costs exactly ten Credits, one hundredth of a yuan. */
export const TEN_CREDITS: Pricing = {
  ...TOKEN_PRICES,
  billingModes: ['request'],
  inputPrice: null,
  outputPrice: null,
  cacheInputPrice: null,
  requestPrice: '0.01',
}

/** Of a model that is not billed by tokens. */
export const NO_TOKEN_PRICES: Pricing = {
  ...TOKEN_PRICES,
  inputPrice: null,
  outputPrice: null,
  cacheInputPrice: null,
}

export function putVendor(
  code: string,
  baseUrl: string,
  fields: { readonly kind?: string; readonly timeouts?: Partial<Timeouts>; readonly asksForKey?: false } = {},
): readonly CatalogueChange[] {
  return [
    {
      kind: 'put-vendor',
      vendor: {
        code: vendorCode(code),
        name: code.toUpperCase(),
        kind: fields.kind ?? 'openai-compatible',
        baseUrl,
        timeouts: {
          connectMs: PATIENCE_MS,
          firstByteMs: PATIENCE_MS,
          idleMs: PATIENCE_MS,
          ...fields.timeouts,
        },
        status: 'enabled',
      },
    },
    fields.asksForKey === false ? putEmptyCredential(code) : putCredential(code),
  ]
}

function putEmptyCredential(vendor: string): CatalogueChange {
  return {
    kind: 'put-credential',
    vendorCode: vendorCode(vendor),
    name: 'main',
    secret: { secret: undefined, fields: {} },
    limits: UNLIMITED,
    status: 'enabled',
  }
}

interface Timeouts {
  readonly connectMs: number
  readonly firstByteMs: number
  readonly idleMs: number
}

export function putCredential(vendor: string, name = 'main', limits: Policy = UNLIMITED): CatalogueChange {
  return {
    kind: 'put-credential',
    vendorCode: vendorCode(vendor),
    name,
    secret: { secret: new Secret(`secret-of-${vendor}-${name}`), fields: {} },
    limits,
    status: 'enabled',
  }
}

export function putModel(id: string, fields: Partial<Omit<ModelFields, 'modelId'>> = {}): CatalogueChange {
  return {
    kind: 'put-model',
    model: {
      modelId: modelId(id),
      name: id,
      status: 'enabled',
      clientVisible: true,
      supportFeatures: ['text'],
      requiredVerification: 0,
      requiredPlan: 0,
      contextTokens: 128_000,
      maxOutputTokens: 16_000,
      subscriptionCovered: false,
      pricing: TOKEN_PRICES,
      surcharges: {},
      refuse: [],
      ...fields,
    },
  }
}

export interface ChainFields
  extends Partial<Omit<Chain, 'id' | 'credentialId' | 'modelId' | 'vendorCode' | 'forwardModelId'>> {
  readonly model: string
  readonly vendor: string
  readonly forward?: string
  readonly credentialName?: string
}

export function putChain({
  model,
  vendor,
  forward,
  credentialName = 'main',
  ...fields
}: ChainFields): CatalogueChange {
  return {
    kind: 'put-chain',
    chain: {
      modelId: modelId(model),
      vendorCode: vendorCode(vendor),
      protocol: 'chat',
      forwardModelId: forwardModelId(forward ?? `${model}-upstream`),
      priority: 1,
      weight: 100,
      rateMultiplier: '1',
      streamUsage: 'forward',
      clientGoneGraceMs: 3_000,
      minBytesPerSecond: 10,
      capabilities: {},
      status: 'enabled',
      ...fields,
    },
    credentialName,
  }
}

export function putGroup(group: {
  readonly name: string
  readonly protocol: Group['protocol']
  readonly models: readonly string[]
}): CatalogueChange {
  return { kind: 'put-group', group: { ...group, models: group.models.map(modelId) } }
}
