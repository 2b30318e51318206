/** Sign-in through another service: the redirect there, the way back, and the person's account here. */
import type { AccountId } from '../../core/ids.ts'
import type { Secret } from '../../core/secret.ts'
import { StorageConflict } from '../../storage/failures/conflict.ts'
import { createAccount } from '../accounts/accounts.ts'
import { readContact } from './contact.ts'
import type { Identity, TooMany } from './identity.ts'
import { questionBucket } from './limits.ts'
import { mayRegister } from './may-register.ts'
import { actorAt, type OwnAct, ownAct } from './own-act.ts'
import type { ServiceMemory, ServicePerson, SignInService } from './services/service.ts'
import type { RequestOrigin } from './sessions/sessions.ts'
import { enter, type SignedIn } from './sign-in.ts'
import { CHALLENGE_TOKEN_PREFIX, hashToken, makeToken } from './sessions/tokens.ts'
import type { Account } from '../../storage/stores/accounts.ts'

/** Time for a person to sign in at the service, perhaps for the first time. */
export const SERVICE_TRIP_MS = 600_000

/** Data kept until the browser comes back. */
interface Trip {
  readonly service: string
  readonly memory: ServiceMemory
  /** A path of this site. */
  readonly returnTo: string
}

export interface TripStart {
  readonly kind: 'started'
  /** The service's sign-in page. */
  readonly url: URL
  /** For a cookie of this browser: only the browser that was redirected can come back. */
  readonly token: Secret
}

export async function startTrip(
  identity: Identity,
  service: SignInService,
  trip: {
    readonly redirectUri: string
    readonly returnTo: string
    /** The account to link the service to; undefined: a sign-in. */
    readonly linkTo: AccountId | undefined
    readonly address: string
  },
): Promise<TripStart | TooMany> {
  const at = identity.now()
  const { attempts, challenges } = identity.storage.identity
  const waitMs = await attempts.take([questionBucket(trip.address)], at)
  if (waitMs !== undefined) return { kind: 'too-many', retryAfterMs: waitMs }
  const { url, memory } = await service.start(trip.redirectUri)
  const token = makeToken(CHALLENGE_TOKEN_PREFIX)
  const detail: Trip = { service: service.name, memory, returnTo: trip.returnTo }
  await challenges.put(hashToken(token.unwrap()), {
    kind: 'service',
    accountId: trip.linkTo,
    detail: JSON.stringify(detail),
    triesLeft: 1,
    createdAt: at,
    endsAt: at + SERVICE_TRIP_MS,
  })
  return { kind: 'started', url, token }
}

export type TripEnd =
  | { readonly kind: 'entered'; readonly outcome: SignedIn; readonly returnTo: string }
  | { readonly kind: 'linked'; readonly returnTo: string }
  /** The person who wanted the link is still signed in, and returns to where they were. */
  | { readonly kind: 'not-linked'; readonly why: 'taken' | 'refused'; readonly returnTo: string }
  /** The service's person is linked to another account. */
  | { readonly kind: 'taken' }
  /** The attempt was not started by this browser, or has expired. */
  | { readonly kind: 'lost' }
  /** The service's answer is not valid. */
  | { readonly kind: 'refused' }
  /** The person has no account here and may not register. */
  | { readonly kind: 'closed' }

export async function finishTrip(
  identity: Identity,
  service: SignInService,
  back: { readonly token: string; readonly callback: URL; readonly origin: RequestOrigin },
): Promise<TripEnd> {
  const taken = await identity.storage.identity.challenges.take(
    hashToken(back.token),
    'service',
    identity.now(),
  )
  if (taken === undefined) return { kind: 'lost' }
  // A row written by `startTrip`.
  const trip = JSON.parse(taken.detail) as Trip
  if (trip.service !== service.name) return { kind: 'lost' }
  const person = await identify(identity, service, { callback: back.callback, memory: trip.memory })
  if (person === undefined) {
    identity.security.note('sign-in.failed', {
      address: back.origin.address,
      method: 'service',
      service: service.name,
    })
    return taken.accountId === undefined
      ? { kind: 'refused' }
      : { kind: 'not-linked', why: 'refused', returnTo: trip.returnTo }
  }
  if (taken.accountId !== undefined) {
    const linked = await addLink(identity, taken.accountId, {
      service: service.name,
      person,
      origin: back.origin,
    })
    return linked
      ? { kind: 'linked', returnTo: trip.returnTo }
      : { kind: 'not-linked', why: 'taken', returnTo: trip.returnTo }
  }
  const account = await accountOf(identity, { service: service.name, person, origin: back.origin })
  if (account === 'closed') {
    identity.security.note('registration.refused', { address: back.origin.address, service: service.name })
    return { kind: 'closed' }
  }
  if (account === undefined) return { kind: 'taken' }
  const outcome = await enter(identity, account, { ...back.origin, method: 'service' })
  return { kind: 'entered', outcome, returnTo: trip.returnTo }
}

async function identify(
  { log }: Identity,
  service: SignInService,
  { callback, memory }: { readonly callback: URL; readonly memory: ServiceMemory },
): Promise<ServicePerson | undefined> {
  try {
    return await service.finish(callback, memory)
  } catch (error) {
    log.warn({ error, service: service.name }, 'a sign-in through another service failed')
    return undefined
  }
}

/**
 * The account of this person: the linked one; else the one with the address that the service has verified, since
 * accounts' addresses are verified by a code too; else a new one.
 */
async function accountOf(identity: Identity, visit: Visit): Promise<Account | 'closed' | undefined> {
  const { service, person } = visit
  const { accounts, identity: store } = identity.storage
  const link = await store.links.find(service, person.subject)
  if (link !== undefined) return accounts.find(link.accountId)
  const email =
    person.verifiedEmail === undefined ? undefined : readContact('email', person.verifiedEmail, undefined)
  const known = email === undefined ? undefined : await accounts.findByLogin({ email: email.target })
  if (known === undefined && !(await mayRegister(identity, email))) return 'closed'
  const id = known?.id ?? (await makeAccount(identity, email?.target))
  if (id === undefined || !(await addLink(identity, id, visit))) return undefined
  return accounts.find(id)
}

/** undefined: an account with this address was created at the same moment; trying again finds it. */
async function makeAccount(
  { storage, now }: Identity,
  email: string | undefined,
): Promise<AccountId | undefined> {
  try {
    return await createAccount(storage, email === undefined ? {} : { email }, now())
  } catch (error) {
    if (error instanceof StorageConflict) return undefined
    throw error
  }
}

/** A person who came back from a service. */
interface Visit {
  readonly service: string
  readonly person: ServicePerson
  readonly origin: RequestOrigin
}

/** Also true if the account has the link already. */
async function addLink(
  identity: Identity,
  id: AccountId,
  { service, person, origin }: Visit,
): Promise<boolean> {
  const { accounts, identity: store } = identity.storage
  const { links } = store
  const account = await accounts.find(id)
  if (account === undefined) return false
  const { subject, label } = person
  try {
    await ownAct(identity, { account, actor: actorAt(account, origin, undefined) }, async (within) => {
      const link = { service, subject, accountId: id, label, createdAt: identity.now() }
      await within.storage.identity.links.add(link)
      const changes = [{ field: 'service', from: null, to: service }]
      return { value: undefined, action: 'account.link-service', changes }
    })
    return true
  } catch (error) {
    if (!(error instanceof StorageConflict)) throw error
    return (await links.find(service, subject))?.accountId === id
  }
}

/** Whether the account has another way to sign in. */
export async function hasOtherWayIn(
  { storage }: Identity,
  account: Account,
  service: string,
): Promise<boolean> {
  if (account.email !== undefined || account.phone !== undefined) return true
  const { factors, links } = storage.identity
  if ((await factors.listPasskeys(account.id)).length > 0) return true
  return (await links.list(account.id)).some((link) => link.service !== service)
}

/** False: the account is not linked to it. */
export function unlink(identity: Identity, act: OwnAct, service: string): Promise<boolean> {
  return ownAct(identity, act, async (within) => {
    const value = await within.storage.identity.links.remove(act.account.id, service)
    const changes = [{ field: 'service', from: service, to: null }]
    return { value, action: value ? 'account.unlink-service' : undefined, changes }
  })
}
