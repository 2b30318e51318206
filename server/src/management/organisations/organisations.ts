/** Creating organisations, and moving money into them. Permissions are checked before; the store checks the rest. */
import { DAY_MS } from '../../core/durations.ts'
import type { AccountId, MemberId } from '../../core/ids.ts'
import type { MicroCredits } from '../../core/money.ts'
import type { Storage } from '../../storage/storage.ts'
import type { FundingOutcome, ListedMember, Organisation } from '../../storage/stores/organisations.ts'
import { type Asking, idempotencyOf } from '../acts.ts'
import { newAccountId, newMemberId, timeOrderedId } from '../new-id.ts'
import type { Account } from '../../storage/stores/accounts.ts'

/** Organisations one person may own: each is an account. */
const OWNED_MAX = 20
const CREATED_PER_DAY = 10

export type Creation =
  | { readonly kind: 'created'; readonly organisation: Organisation; readonly member: MemberId }
  | { readonly kind: 'too-many-owned'; readonly most: number }
  | { readonly kind: 'too-many'; readonly retryAfterMs: number }

/** The creator of an organisation is its first owner. */
export async function createOrganisation(
  storage: Pick<Storage, 'organisations' | 'identity'>,
  request: { readonly person: AccountId; readonly name: string },
  at: number,
): Promise<Creation> {
  const owned = (await storage.organisations.listOf(request.person)).filter(
    ({ member }) => member.role === 'owner',
  )
  if (owned.length >= OWNED_MAX) return { kind: 'too-many-owned', most: OWNED_MAX }
  const bucket = {
    subject: `organisation/create/${request.person}`,
    limit: CREATED_PER_DAY,
    windowMs: DAY_MS,
  }
  const retryAfterMs = await storage.identity.attempts.take([bucket], at)
  if (retryAfterMs !== undefined) return { kind: 'too-many', retryAfterMs }
  const organisation = { id: newAccountId(at), name: request.name, createdAt: at }
  const member = newMemberId(at)
  await storage.organisations.create(organisation, { id: member, accountId: request.person })
  return { kind: 'created', organisation, member }
}

export interface FundRequest extends Asking {
  readonly organisation: AccountId
  readonly person: AccountId
  readonly pool: 'credits' | 'balance'
  /** Above 0. */
  readonly amount: MicroCredits
}

/** From an owner's own pool into the organisation's same pool, once per idempotency key. */
export function fundOrganisation(
  storage: Pick<Storage, 'organisations'>,
  request: FundRequest,
): Promise<FundingOutcome> {
  const { organisation, person, pool, amount, at } = request
  return storage.organisations.fund({
    organisation,
    person,
    pool,
    amount,
    transactionId: timeOrderedId(at),
    idempotency: idempotencyOf(request, [organisation, pool, amount.toString()]),
    at,
  })
}

const PAGE_MEMBERS = 200

/** Every member, page by page. */
export async function* eachMember(
  storage: Pick<Storage, 'organisations'>,
  organisation: AccountId,
): AsyncGenerator<ListedMember> {
  let after: string | undefined
  for (;;) {
    const page = await storage.organisations.members(organisation, { limit: PAGE_MEMBERS, after })
    yield* page
    after = page.at(-1)?.id
    if (after === undefined || page.length < PAGE_MEMBERS) return
  }
}

/** The addresses for the organisation's notifications: its owners who can act for it. */
export async function ownersMails(
  storage: Pick<Storage, 'organisations'>,
  organisation: AccountId,
): Promise<readonly string[]> {
  const mails: string[] = []
  for await (const { role, status, personStatus, email } of eachMember(storage, organisation)) {
    const isTold = role === 'owner' && status === 'active' && personStatus === 'active'
    if (isTold && email !== undefined) mails.push(email)
  }
  return mails
}

/** The addresses for mail about an account: to its person, or to an organisation's owners. */
export async function mailsOf(
  storage: Pick<Storage, 'organisations'>,
  account: Pick<Account, 'id' | 'kind' | 'email'>,
): Promise<readonly string[]> {
  if (account.kind === 'organisation') return ownersMails(storage, account.id)
  return account.email === undefined ? [] : [account.email]
}
