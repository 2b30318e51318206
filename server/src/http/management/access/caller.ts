/** Finds the caller of a route and whom they act for, once per request, by the access rule that the route declares. */
import { say, type Sentence } from '../../../core/sentences/say.ts'
import type { FastifyRequest } from 'fastify'
import { GatewayError } from '../../../core/errors/gateway-error.ts'
import { type AccountId, accountId } from '../../../core/ids.ts'
import type { KeyHolder } from '../../../pipeline/instance/directory.ts'
import { findSession, isSessionToken, useOf } from '../../../management/identity/sessions/sessions.ts'
import { hasRight } from '../../../management/organisations/roles.ts'
import type { Session } from '../../../storage/stores/identity.ts'
import type { Member, MemberRole } from '../../../storage/stores/organisations.ts'
import { requireSameOrigin } from './same-origin.ts'
import { readSessionCookie } from './session-cookie.ts'
import type { Storage } from '../../../storage/storage.ts'
import type { Account } from '../../../storage/stores/accounts.ts'
import type { Key } from '../../../storage/stores/keys.ts'
import type { Telemetry } from '../../../telemetry/telemetry.ts'

export type Caller = SessionCaller | KeyCaller

/** `person`: cannot be used for an organisation. Otherwise the lowest role that may. */
export type Right = 'person' | MemberRole

export interface SessionCaller {
  readonly kind: 'session'
  readonly session: Session
  /** The account whose keys, money and calls are meant: the person's own, or that of the organisation they act for. */
  readonly account: Account
  /** The signed-in person. */
  readonly person: Account
  /** The person's membership in the organisation they act for; undefined: they act for themselves. */
  readonly member: Member | undefined
}

export interface MemberCaller extends SessionCaller {
  readonly member: Member
}

export interface KeyCaller {
  readonly kind: 'key'
  readonly key: Key
  readonly account: Account
}

export interface CallerReader {
  /** A session or an API key; otherwise throws the 401 or 403 that applies. */
  requireAccount(request: FastifyRequest, right: Right): Promise<Caller>
  /** A session; an API key is 403/40304. */
  requireSession(request: FastifyRequest, right: Right): Promise<SessionCaller>
  /** A session of a member of the organisation that the path names. */
  requireMember(request: FastifyRequest, right: Right): Promise<MemberCaller>
  /** A session of role admin, and not one that impersonates an admin. */
  requireAdmin(request: FastifyRequest): Promise<SessionCaller>
  /**
   * undefined: no credential was sent, or a cookie whose session has ended; any other invalid credential is refused.
   */
  findAccount(request: FastifyRequest, right: Right): Promise<Caller | undefined>
}

/** The parts of an instance that identify a caller. */
interface CallerParts {
  readonly storage: Storage
  readonly now: () => number
  readonly telemetry: Telemetry
}

export interface CallerReaderOptions extends CallerParts {
  readonly publicUrl: string | undefined
  readonly requireKey: (request: FastifyRequest) => Promise<KeyHolder>
}

/** On requests with a session: the id of the organisation that the person acts for. */
export const ORGANISATION_HEADER = 'gw-organisation'

/**
 * The credential of a request. `Authorization` takes precedence: it is sent deliberately, while a cookie is sent
 * automatically.
 */
type Shown =
  | { readonly kind: 'token'; readonly token: string }
  | { readonly kind: 'cookie'; readonly token: string }
  | { readonly kind: 'key' }
  | { readonly kind: 'nothing' }

export function createCallerReader(options: CallerReaderOptions): CallerReader {
  const find = async (request: FastifyRequest, right: Right): Promise<Caller | 'nothing' | 'ended'> => {
    const found = await findCaller(options, request)
    return typeof found === 'string' ? found : acting(options, request, found, right)
  }

  const requireOwnSession = async (request: FastifyRequest): Promise<SessionCaller> => {
    const found = await findCaller(options, request)
    if (found === 'nothing') throw notSignedIn(say('sign-in-first'))
    if (found === 'ended') throw sessionEnded()
    if (found.kind === 'session') return found
    throw new GatewayError(40304, { message: say('key-may-not') })
  }

  return {
    async requireAccount(request, right) {
      const found = await find(request, right)
      if (found === 'nothing') throw notSignedIn(say('key-required'))
      if (found === 'ended') throw sessionEnded()
      return found
    },
    async requireSession(request, right) {
      const own = await requireOwnSession(request)
      const named = namedOrganisation(request)
      return named === undefined ? own : actFor(options, own, { id: named, right })
    },
    async requireMember(request, right) {
      const own = await requireOwnSession(request)
      const id = organisationInPath(request)
      const named = namedOrganisation(request)
      if (named !== undefined && named !== id) throw notActing()
      return actFor(options, own, { id, right })
    },
    async requireAdmin(request) {
      const caller = await requireOwnSession(request)
      if (caller.account.role !== 'admin' || caller.session.impersonator !== undefined) {
        throw new GatewayError(40304, { message: say('administrators-only') })
      }
      if (namedOrganisation(request) !== undefined) throw forNobody()
      return caller
    },
    async findAccount(request, right) {
      const found = await find(request, right)
      if (found === 'ended') throw sessionEnded()
      return found === 'nothing' ? undefined : found
    },
  }
}

/** `ended`: the session has ended. */
async function findCaller(
  options: CallerReaderOptions,
  request: FastifyRequest,
): Promise<Caller | 'nothing' | 'ended'> {
  const { publicUrl, requireKey } = options
  const shown = shownBy(request, publicUrl)
  switch (shown.kind) {
    case 'key':
      return { kind: 'key', ...(await requireKey(request)) }
    case 'token':
      return (await callerOfSession(options, shown.token)) ?? 'ended'
    case 'cookie': {
      const caller = await callerOfSession(options, shown.token)
      // A cookie without a session grants nothing, so there is nothing to protect.
      if (caller === undefined) return 'nothing'
      requireSameOrigin({ method: request.method, headers: request.headers, publicUrl })
      return caller
    }
    case 'nothing':
      return 'nothing'
  }
}

async function callerOfSession(parts: CallerParts, token: string): Promise<SessionCaller | undefined> {
  const at = parts.now()
  const session = await findSession(parts.storage, token, at)
  if (session === undefined) return undefined
  const account = await parts.storage.accounts.find(session.accountId)
  // Organisations cannot sign in; a session of one, however it was created, grants nothing.
  if (account === undefined || account.kind === 'organisation') return undefined
  if (account.status === 'suspended') throw new GatewayError(40303)
  if (session.impersonator !== undefined && !(await isAdmin(parts, session.impersonator))) return undefined
  const use = useOf(session, at)
  if (use !== undefined) {
    parts.telemetry.background.track(
      parts.storage.identity.sessions.touch(session.id, use),
      'note that a session is used',
    )
  }
  return { kind: 'session', session, account, person: account, member: undefined }
}

/** An impersonated session ends when its admin loses that role. */
async function isAdmin({ storage }: CallerParts, id: AccountId): Promise<boolean> {
  const account = await storage.accounts.find(id)
  return account?.role === 'admin' && account.status === 'active'
}

/** The caller in terms of the route: for themselves, or for the organisation that the header names. */
async function acting(
  parts: CallerParts,
  request: FastifyRequest,
  caller: Caller,
  right: Right,
): Promise<Caller> {
  if (caller.kind === 'key') return actingKey(caller, right)
  const id = namedOrganisation(request)
  return id === undefined ? caller : actFor(parts, caller, { id, right })
}

/** A member's key never has more rights than an ordinary member, whatever the member's role. */
function actingKey(caller: KeyCaller, right: Right): KeyCaller {
  if (caller.key.memberId === undefined || right === 'person' || hasRight('member', right)) return caller
  throw new GatewayError(40304, { message: say('member-key-may-not-see') })
}

/** An API key acts only for the account it belongs to. */
export function checkKeysOrganisation(request: FastifyRequest, key: Pick<Key, 'accountId'>): void {
  const named = namedOrganisation(request)
  if (named === undefined || named === key.accountId) return
  throw new GatewayError(40304, {
    message: say('key-acts-for-its-account'),
  })
}

/**
 * Everything is read from the store, so that a member who has left or was suspended loses access with the next request.
 * Unknown organisations and those of others get the same answer.
 */
async function actFor(
  { storage }: CallerParts,
  caller: SessionCaller,
  { id, right }: { readonly id: AccountId; readonly right: Right },
): Promise<MemberCaller> {
  if (right === 'person') throw forNobody()
  if (caller.session.impersonator !== undefined) {
    throw new GatewayError(40304, {
      message: say('impersonator-not-for-organisations'),
    })
  }
  const member = await storage.organisations.member(id, caller.person.id)
  const account = member === undefined ? undefined : await storage.accounts.find(id)
  if (member === undefined || account === undefined) throw notActing()
  if (member.status === 'suspended') throw new GatewayError(40303, { message: say('membership-suspended') })
  if (account.status === 'suspended')
    throw new GatewayError(40303, { message: say('organisation-suspended') })
  if (!hasRight(member.role, right)) throw new GatewayError(40304, { message: say('needs-role', { right }) })
  return { ...caller, account, member }
}

function namedOrganisation({ headers }: FastifyRequest): AccountId | undefined {
  const named = headers[ORGANISATION_HEADER]
  return named === undefined ? undefined : accountId(String(named))
}

function organisationInPath({ params }: FastifyRequest): AccountId {
  const named =
    typeof params === 'object' && params !== null && 'organisation' in params
      ? params.organisation
      : undefined
  if (typeof named !== 'string') throw new Error('a route for members has no :organisation in its path')
  return accountId(named)
}

function shownBy({ headers }: FastifyRequest, publicUrl: string | undefined): Shown {
  if (headers.authorization !== undefined) {
    const [, bearer = ''] = /^bearer +(\S+) *$/i.exec(headers.authorization) ?? []
    return isSessionToken(bearer) ? { kind: 'token', token: bearer } : { kind: 'key' }
  }
  const token = readSessionCookie(headers, publicUrl)
  return token === undefined ? { kind: 'nothing' } : { kind: 'cookie', token }
}

function notSignedIn(message: Sentence): GatewayError {
  return new GatewayError(40001, { message })
}

function sessionEnded(): GatewayError {
  return new GatewayError(40101, { message: say('session-ended') })
}

function notActing(): GatewayError {
  return new GatewayError(40304, { message: say('not-acting-for-it') })
}

function forNobody(): GatewayError {
  return new GatewayError(40304, {
    message: say('not-for-organisations'),
  })
}
