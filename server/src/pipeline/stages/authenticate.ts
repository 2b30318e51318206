import { PROTOCOL_IDS } from '../../core/catalogue.ts'
import { GatewayError } from '../../core/errors/gateway-error.ts'
import { protocolOf } from '../../core/protocols/index.ts'
import { hashKey } from '../../storage/key-hash.ts'
import type { Storage } from '../../storage/storage.ts'
import type { KeyHolder } from '../instance/directory.ts'
import type { Pipeline } from '../context.ts'
import type { Account } from '../../storage/stores/accounts.ts'
import type { Key } from '../../storage/stores/keys.ts'

/**
 * Finds the caller from the headers alone, before a byte of the body is read
 * (docs/reference/contract.md#D-admission-01).
 */
export async function authenticate<Call extends PresentedCredentials & { readonly at: number }>(
  pipeline: Pick<Pipeline, 'directory'>,
  call: Call,
): Promise<Omit<Call, 'stage'> & Authenticated> {
  const { key, account } = await findHolder(pipeline, presentedKey(call), call.at)
  return { ...call, stage: 'authenticated', key, account }
}

/** What is known of a call of any kind from here on. */
export interface Authenticated {
  readonly stage: 'authenticated'
  readonly key: Key
  readonly account: Account
}

/** Who holds this key, when it may be used at all: 40101 unknown or deleted, 40102 disabled, 40103 expired. */
export async function findHolder(
  pipeline: Pick<Pipeline, 'directory'>,
  presented: string,
  at: number,
): Promise<KeyHolder> {
  return usable(await pipeline.directory.find(hashKey(presented)), at)
}

/**
 * The same from the store itself, for answers that no reservation stands behind: a key may have been revoked elsewhere,
 * and the member whose key it is may not call any more.
 */
export async function findHolderNow(
  pipeline: Pick<Pipeline, 'directory' | 'storage'>,
  hash: string,
  at: number,
): Promise<KeyHolder> {
  const holder = usable(await pipeline.directory.findFresh(hash), at)
  // Whoever asks tells a suspended account so, which comes before its members (docs/reference/contract.md#D-errors-07).
  if (holder.account.status !== 'suspended') await checkMember(pipeline.storage, holder.key)
  return holder
}

/** The same answers as the key's calls get (core/calls/decide-reserve.ts). */
async function checkMember(
  storage: Pick<Storage, 'organisations' | 'accounts'>,
  { memberId }: Pick<Key, 'memberId'>,
): Promise<void> {
  if (memberId === undefined) return
  const member = await storage.organisations.findMember(memberId)
  if (member === undefined) throw new GatewayError(40101)
  const person = await storage.accounts.find(member.accountId)
  if (person?.status !== 'active')
    throw new GatewayError(40303, {
      message: 'the account of the member this API key belongs to is suspended',
    })
  if (member.status === 'suspended')
    throw new GatewayError(40102, {
      message: 'the member this API key belongs to is suspended in the organisation',
    })
}

function usable(found: KeyHolder | undefined, at: number): KeyHolder {
  if (found === undefined) throw new GatewayError(40101)
  const { key } = found
  if (key.status !== 'enabled') throw new GatewayError(key.status === 'disabled' ? 40102 : 40101)
  if (key.expiresAt !== undefined && key.expiresAt <= at) throw new GatewayError(40103)
  return found
}

export interface PresentedCredentials {
  readonly endpoint: { readonly protocol: string; readonly path: string }
  readonly address: 'base' | 'gateway'
  readonly headers: Readonly<Record<string, string | undefined>>
  readonly keyInQuery: boolean
}

/**
 * Which header holds the key (docs/reference/contract.md#5-06, #D-addresses-17, #D-addresses-39): a bearer everywhere
 * and before anything else; `x-api-key` only at the gateway address, for messages and the model list; `x-goog-api-key`
 * only for Gemini.
 */
export function presentedKey(call: PresentedCredentials): string {
  const { authorization } = call.headers
  if (authorization !== undefined) return bearer(authorization)
  const other = keyHeaderBesideBearer(call)
  const presented = other === undefined ? undefined : call.headers[other]
  if (presented !== undefined && presented !== '') return presented
  throw missingKey(call)
}

function bearer(authorization: string): string {
  const [, token] = /^bearer +(\S+) *$/i.exec(authorization) ?? []
  if (token === undefined) throw new GatewayError(40001)
  return token
}

/** The model list is read by clients of messages too. */
function keyHeaderBesideBearer(call: PresentedCredentials): string | undefined {
  const { protocol, path } = call.endpoint
  const spoken = path === '/v1/models' ? 'messages' : PROTOCOL_IDS.find((id) => id === protocol)
  const header = spoken === undefined ? undefined : protocolOf(spoken).keyHeader
  return header?.at === 'gateway-address' && call.address !== 'gateway' ? undefined : header?.name
}

function missingKey(call: PresentedCredentials): GatewayError {
  if (!call.keyInQuery) return new GatewayError(40001)
  return new GatewayError(40001, {
    message:
      'api_key is required: a key in the query string is not read, since addresses end up in logs; ' +
      'send it as Authorization: Bearer <API key> or x-goog-api-key',
  })
}
