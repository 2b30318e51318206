/**
 * Initial contents of an empty database: the gateway file if there is one, otherwise a catalogue from the environment's
 * vendor keys; and always an account that can call.
 */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type Mistake, printMistake } from '../../config/gateway-file/file-node.ts'
import { type Config, ConfigError, type Environment } from '../../config/environment.ts'
import { MICRO_CREDITS_PER_CREDIT, microCredits, ZERO } from '../../core/money.ts'
import { StorageConflict } from '../../storage/failures/conflict.ts'
import type { CatalogueChange } from '../../storage/stores/records.ts'
import type { Storage } from '../../storage/storage.ts'
import { createAccount } from './accounts.ts'
import type { NewKey } from '../gateway-file/write-account.ts'
import type { VendorKindRules } from '../../config/gateway-file/check-rows.ts'
import { grantOpening } from '../money/grants.ts'
import { keyOf, makeKeySecret, UNRESTRICTED_KEY } from '../keys/keys.ts'
import { namedKeyId } from '../new-id.ts'
import type { Account } from '../../storage/stores/accounts.ts'
import { codeOf, isMissing } from '../../core/errors/error-code.ts'

export interface FirstRunSetup {
  readonly storage: Pick<Storage, 'catalogue' | 'accounts' | 'keys' | 'ledger' | 'audit'>
  readonly config: Pick<Config, 'gatewayFile'> & Partial<Pick<Config, 'phoneRegion'>>
  readonly environment: Environment
  /** Directory in which `gateway.yaml` is looked for. */
  readonly workingDirectory: string
  /** Vendor kinds that have a provider. */
  readonly kinds: readonly VendorKindRules[]
  /** The catalogue made from the environment's vendor keys and the sandbox, if none was written. */
  readonly offer: readonly CatalogueChange[]
  /** Epoch ms. */
  readonly at: number
}

export type FirstRun =
  /** Accounts exist: this is not the first start. */
  | {
      readonly kind: 'not-first'
      /** Settings found that only apply at a first start, each with what to do instead. */
      readonly unread: readonly string[]
    }
  | {
      readonly kind: 'first'
      /** Absolute path of the gateway file that was applied; undefined: there was none. */
      readonly gatewayFile: string | undefined
      /** Keys that can only be shown now, including the owner's first one. */
      readonly newKeys: readonly NewKey[]
      /** Warnings about the gateway file, each with its line. */
      readonly warnings: readonly string[]
    }

/** The account a first start creates if the gateway file has none. */
export const OWNER_EMAIL = 'owner@localhost'
export const OWNER_KEY_NAME = 'first key'
/** 100 yuan at the default rate: enough to try everything, but limited. */
const OWNER_CREDITS = microCredits(100_000n * MICRO_CREDITS_PER_CREDIT)
const GATEWAY_FILE_NAME = 'gateway.yaml'

/**
 * Creates what is missing and returns what must be shown once. Safe to repeat after a crash, and if several instances
 * start at once: one of them creates the owner, one of them its key, and only that one shows it.
 */
export async function prepareFirstRun(setup: FirstRunSetup): Promise<FirstRun> {
  const [first, second] = await setup.storage.accounts.list({ limit: 2, after: undefined })
  if (first === undefined) return beginWith(await findGatewayFile(setup), setup)
  const isOwnerAlone = first.email === OWNER_EMAIL && second === undefined
  const newKeys = isOwnerAlone ? await ensureOwnerKey(setup, first) : []
  return newKeys.length === 0
    ? { kind: 'not-first', unread: await findUnread(setup) }
    : { kind: 'first', gatewayFile: undefined, newKeys, warnings: [] }
}

/** The catalogue is written before the accounts, so that accounts never exist without a complete catalogue. */
async function beginWith(file: FoundFile | undefined, setup: FirstRunSetup): Promise<FirstRun> {
  const { newKeys, warnings } = file === undefined ? await putOffer(setup) : await applyFile(file, setup)
  const [account] = await setup.storage.accounts.list({ limit: 1, after: undefined })
  const owner = account ?? (await createOwner(setup))
  const owned = owner?.email === OWNER_EMAIL ? await ensureOwnerKey(setup, owner) : []
  return { kind: 'first', gatewayFile: file?.path, newKeys: [...newKeys, ...owned], warnings }
}

/** The result of writing a catalogue. */
interface Begun {
  readonly newKeys: readonly NewKey[]
  readonly warnings: readonly string[]
}

/** Vendors of the environment that the catalogue does not have, and an unused gateway file. */
async function findUnread(setup: FirstRunSetup): Promise<readonly string[]> {
  const { vendors } = await setup.storage.catalogue.read()
  const missing = setup.offer.flatMap((change) =>
    change.kind === 'put-vendor' && !vendors.has(change.vendor.code) ? [change.vendor] : [],
  )
  const file = setup.config.gatewayFile === undefined ? await findGatewayFile(setup) : undefined
  return [
    ...missing.map(
      ({ code, name }) =>
        `the environment's key of ${name}, which the catalogue does not have; add it: npx sluice vendors add ${code}`,
    ),
    ...(file === undefined ? [] : [`${file.path}; apply it: npx sluice apply -f ${file.path}`]),
  ]
}

interface FoundFile {
  readonly path: string
  readonly text: string
}

async function findGatewayFile(setup: FirstRunSetup): Promise<FoundFile | undefined> {
  const named = setup.config.gatewayFile
  const path = named ?? join(setup.workingDirectory, GATEWAY_FILE_NAME)
  try {
    return { path, text: await readFile(path, 'utf8') }
  } catch (error) {
    if (named === undefined && isMissing(error)) return undefined
    const variable = named === undefined ? GATEWAY_FILE_NAME : 'SLUICE_CONFIG'
    throw new ConfigError([
      `${variable} must name a file that can be read: ${path} (${codeOf(error) ?? String(error)})`,
    ])
  }
}

async function applyFile(file: FoundFile, setup: FirstRunSetup): Promise<Begun> {
  const { applyGatewayFile } = await import('../gateway-file/apply-gateway-file.ts')
  const apply = () =>
    applyGatewayFile(setup.storage, {
      text: file.text,
      environment: setup.environment,
      kinds: setup.kinds,
      missing: 'stays',
      phoneRegion: setup.config.phoneRegion,
      mode: 'apply',
      at: setup.at,
    })
  const first = await apply()
  // Another instance may have created a key of the file after its account was looked up here: a second attempt finds
  // both.
  const result = first.kind === 'mistakes' ? await apply() : first
  if (result.kind === 'mistakes') throw gatewayFileError(file.path, result.mistakes)
  const warnings = result.warnings.map((warning) => printMistake(file.path, warning))
  return { newKeys: result.newKeys, warnings }
}

export function gatewayFileError(path: string, mistakes: readonly Mistake[]): ConfigError {
  return new ConfigError(mistakes.map((mistake) => printMistake(path, mistake)))
}

async function putOffer({ storage, offer }: FirstRunSetup): Promise<Begun> {
  if (offer.length > 0) await storage.catalogue.apply(offer)
  return { newKeys: [], warnings: [] }
}

/** If the file has accounts, no owner is needed; otherwise one is created. */
async function createOwner({ storage, at }: FirstRunSetup): Promise<Account | undefined> {
  try {
    await createAccount(storage, { email: OWNER_EMAIL, role: 'admin', apiDeduction: true }, at)
  } catch (error) {
    // Another instance created it at the same moment; the first one creates its key.
    if (!(error instanceof StorageConflict)) throw error
  }
  return storage.accounts.findByLogin({ email: OWNER_EMAIL })
}

/** The owner's first key has an id of its own, so that it is created only once, even if it was deleted. */
async function ensureOwnerKey({ storage, at }: FirstRunSetup, owner: Account): Promise<readonly NewKey[]> {
  await grantOpening(storage, owner.id, { credits: OWNER_CREDITS, balance: ZERO }, at)
  if ((await storage.keys.list(owner.id)).length > 0) return []
  const { keyPrefix } = (await storage.catalogue.read()).settings
  const plaintext = makeKeySecret(keyPrefix)
  const request = { ...UNRESTRICTED_KEY, name: OWNER_KEY_NAME, accountId: owner.id, secret: plaintext }
  const key = keyOf(request, plaintext, keyPrefix, at)
  try {
    await storage.keys.create({ ...key, id: namedKeyId(owner.id, OWNER_KEY_NAME) })
  } catch (error) {
    if (error instanceof StorageConflict) return []
    throw error
  }
  return [{ account: OWNER_EMAIL, name: OWNER_KEY_NAME, plaintext }]
}
