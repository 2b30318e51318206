/**
 * API keys in the management API: created, listed, switched, deleted (docs/reference/contract.md#2.6, #5-12, #5-15).
 */
import { say, type Sentence } from '../../core/sentences/say.ts'
import { randomBytes } from 'node:crypto'
import { isAddressRange } from '../../config/address-range.ts'
import { isKeySecret, keySecretRule } from '../../config/gateway-file/check-rows.ts'
import type { Catalogue } from '../../core/catalogue.ts'
import type { AccountId, KeyId, MemberId, ModelId } from '../../core/ids.ts'
import type { Policy } from '../../core/limits/policy.ts'
import { Secret } from '../../core/secret.ts'
import { StorageConflict } from '../../storage/failures/conflict.ts'
import { hashKey } from '../../storage/key-hash.ts'
import type { Storage } from '../../storage/storage.ts'
import type { Key } from '../../storage/stores/keys.ts'
import { newKeyId } from '../new-id.ts'

/** The visible part of a key: never the hash, and only the hint of the secret. */
export type KeyView = Omit<Key, 'hash'>

/** A key without restrictions, for as long as its account can pay. */
export const UNRESTRICTED_KEY = {
  secret: undefined,
  status: 'enabled',
  expiresAt: undefined,
  group: undefined,
  models: [],
  ipAllow: [],
  policy: undefined,
} as const satisfies Omit<KeyRequest, 'accountId' | 'name'>

export interface KeyRequest {
  readonly accountId: AccountId
  /** The member, if the account is an organisation; absent: the account's own key. */
  readonly memberId?: MemberId | undefined
  readonly name: string
  /** A fixed key, for tests and migrations; undefined: generated. */
  readonly secret: Secret | undefined
  readonly status: 'enabled' | 'disabled'
  /** Epoch ms; undefined: never. */
  readonly expiresAt: number | undefined
  readonly group: string | undefined
  /** Empty: every model. */
  readonly models: readonly ModelId[]
  /** CIDR ranges; empty: every address. */
  readonly ipAllow: readonly string[]
  /** undefined: the platform's default policy. */
  readonly policy: Policy | undefined
}

/** An invalid member of a request. */
export interface FieldMistake {
  readonly path: string
  readonly message: Sentence
}

export type KeyCreation =
  | {
      readonly kind: 'created'
      readonly key: KeyView
      /** The whole key: shown once, stored nowhere. */
      readonly plaintext: Secret
    }
  | { readonly kind: 'refused'; readonly mistakes: readonly FieldMistake[] }

/** Random bytes in a generated key: 43 characters of base64url. */
const SECRET_BYTES = 32
/** Characters a list shows after the prefix (docs/reference/contract.md#2.6). */
const HINT_CHARACTERS = 6
const NAME_CHARACTERS_MAX = 100

export async function createKey(
  storage: Pick<Storage, 'keys' | 'catalogue'>,
  request: KeyRequest,
  at: number,
): Promise<KeyCreation> {
  const catalogue = await storage.catalogue.read()
  const mistakes = findKeyMistakes(request, catalogue)
  if (mistakes.length > 0) return { kind: 'refused', mistakes }
  const plaintext = request.secret ?? makeKeySecret(catalogue.settings.keyPrefix)
  const key = keyOf(request, plaintext, catalogue.settings.keyPrefix, at)
  try {
    await storage.keys.create(key)
  } catch (error) {
    if (!(error instanceof StorageConflict)) throw error
    return {
      kind: 'refused',
      mistakes: [{ path: 'secret', message: say('secret-taken') }],
    }
  }
  return { kind: 'created', key: viewKey(key), plaintext }
}

/** The account's keys that are not deleted, for lists. `member`: only that member's. */
export async function listKeys(
  storage: Pick<Storage, 'keys'>,
  account: AccountId,
  member?: MemberId,
): Promise<readonly KeyView[]> {
  const keys = await storage.keys.list(account, { member })
  return keys.filter((key) => key.status !== 'deleted').map(viewKey)
}

/** For keys whose former secret still works: until when. No secret outlasts its key. */
export async function readFormerUntil(
  storage: { readonly keys: Pick<Storage['keys'], 'formerUntil'> },
  keys: readonly KeyView[],
  at: number,
): Promise<ReadonlyMap<KeyId, number>> {
  const stored = await storage.keys.formerUntil(
    keys.map(({ id }) => id),
    at,
  )
  const ends = new Map<KeyId, number>()
  for (const { id, expiresAt } of keys) {
    const until = Math.min(stored.get(id) ?? at, expiresAt ?? Number.POSITIVE_INFINITY)
    if (until > at) ends.set(id, until)
  }
  return ends
}

/** False: there is no such key. A deleted one stays deleted. Takes effect with the next call, on every instance. */
export async function setKeyStatus(
  storage: Pick<Storage, 'keys'>,
  id: KeyId,
  status: 'enabled' | 'disabled',
): Promise<boolean> {
  const key = await storage.keys.find(id)
  if (key === undefined || key.status === 'deleted') return false
  return storage.keys.patch(id, { status })
}

/** False: there is no such key. Its calls stay in the log; its next call is 40101. */
export async function deleteKey(storage: Pick<Storage, 'keys'>, id: KeyId): Promise<boolean> {
  const key = await storage.keys.find(id)
  if (key === undefined || key.status === 'deleted') return false
  return storage.keys.patch(id, { status: 'deleted' })
}

/** Longest time a former secret may remain valid: thirty days. */
export const OVERLAP_SECONDS_MAX = 30 * 86_400

export interface Rotation {
  readonly key: KeyView
  /** The new key: shown once, stored nowhere. */
  readonly plaintext: Secret
  /** Until when the former secret works, epoch ms; undefined: it ended at once. */
  readonly formerUntil: number | undefined
}

/** Gives a key another secret; everything else is unchanged. undefined: there is no such key. */
export async function rotateKey(
  storage: Pick<Storage, 'keys' | 'catalogue'>,
  id: KeyId,
  { overlapMs, at }: { readonly overlapMs: number; readonly at: number },
): Promise<Rotation | undefined> {
  const { keyPrefix } = (await storage.catalogue.read()).settings
  const plaintext = makeKeySecret(keyPrefix)
  const formerUntil = overlapMs > 0 ? at + overlapMs : undefined
  const secret = { hash: hashKeySecret(plaintext), hint: keyHint(plaintext, keyPrefix) }
  if (!(await storage.keys.rotate(id, secret, { formerUntil, at }))) return undefined
  const key = await storage.keys.find(id)
  return key === undefined ? undefined : { key: viewKey(key), plaintext, formerUntil }
}

/** The service's prefix and 32 random bytes as base64url (docs/reference/contract.md#2.6). */
export function makeKeySecret(prefix: string): Secret {
  return new Secret(prefix + randomBytes(SECRET_BYTES).toString('base64url'))
}

/** All that is stored of a key's secret. */
export function hashKeySecret(secret: Secret): string {
  return hashKey(secret.unwrap())
}

/** The prefix plus six characters. */
export function keyHint(secret: Secret, prefix: string): string {
  return secret.unwrap().slice(0, prefix.length + HINT_CHARACTERS)
}

export function viewKey(key: Key): KeyView {
  const { hash: _hash, ...view } = key
  return view
}

export function keyOf(request: KeyRequest, secret: Secret, prefix: string, at: number): Key {
  return {
    id: newKeyId(at),
    accountId: request.accountId,
    memberId: request.memberId,
    sessionId: undefined,
    name: request.name,
    hash: hashKeySecret(secret),
    hint: keyHint(secret, prefix),
    status: request.status,
    createdAt: at,
    expiresAt: request.expiresAt,
    group: request.group,
    models: request.models,
    ipAllow: request.ipAllow,
    policy: request.policy,
  }
}

/** Names of a group or of models that the catalogue does not have. */
export function findReferenceMistakes(
  key: Partial<Pick<Key, 'group' | 'models'>>,
  catalogue: Catalogue,
): readonly FieldMistake[] {
  const mistakes: FieldMistake[] = []
  if (key.group !== undefined && !catalogue.groups.has(key.group)) {
    mistakes.push({
      path: 'group',
      message: say('refers-to-unknown', { what: say('word-group'), name: key.group }),
    })
  }
  for (const [index, model] of (key.models ?? []).entries()) {
    if (!catalogue.models.has(model)) {
      mistakes.push({
        path: `models[${index}]`,
        message: say('refers-to-unknown', { what: say('word-model'), name: model }),
      })
    }
  }
  return mistakes
}

function findKeyMistakes(request: KeyRequest, catalogue: Catalogue): readonly FieldMistake[] {
  const mistakes: FieldMistake[] = []
  const { keyPrefix } = catalogue.settings
  if (request.name.trim() === '' || request.name.length > NAME_CHARACTERS_MAX) {
    mistakes.push({ path: 'name', message: say('characters-from-one', { most: NAME_CHARACTERS_MAX }) })
  }
  if (request.secret !== undefined && !isKeySecret(request.secret.unwrap(), keyPrefix)) {
    mistakes.push({ path: 'secret', message: keySecretRule(keyPrefix) })
  }
  mistakes.push(...findReferenceMistakes(request, catalogue))
  for (const [index, range] of request.ipAllow.entries()) {
    if (!isAddressRange(range)) {
      mistakes.push({ path: `ip_allow[${index}]`, message: say('not-a-cidr-range', { range }) })
    }
  }
  return mistakes
}
