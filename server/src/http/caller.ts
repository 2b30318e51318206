/** Who asks: found once per route, by the rule the route names. */
import type { FastifyRequest } from 'fastify'
import { GatewayError } from '../core/errors/gateway-error.ts'
import type { Gateway } from '../gateway/gateway.ts'
import type { KeyHolder } from '../gateway/directory.ts'
import { findSession, isSessionToken, useOf } from '../management/identity/sessions.ts'
import type { Session } from '../storage/identity.ts'
import type { Account, Key } from '../storage/storage.ts'
import { requireSameOrigin } from './same-origin.ts'
import { readSessionCookie } from './session-cookie.ts'

export type Caller = SessionCaller | KeyCaller

export interface SessionCaller {
  readonly kind: 'session'
  readonly session: Session
  readonly account: Account
}

export interface KeyCaller {
  readonly kind: 'key'
  readonly key: Key
  readonly account: Account
}

export interface CallerReader {
  /** A session or an API key; else the 401 or 403 that applies. */
  requireAccount(request: FastifyRequest): Promise<Caller>
  /** A session; an API key is 403/40304. */
  requireSession(request: FastifyRequest): Promise<SessionCaller>
  /** A session of role admin, and the admin's own: not one that looks through an admin's eyes. */
  requireAdmin(request: FastifyRequest): Promise<SessionCaller>
  /** undefined: nothing was sent, or a cookie whose session has ended; any other wrong credential is still refused. */
  findAccount(request: FastifyRequest): Promise<Caller | undefined>
}

export interface CallerReaderOptions {
  readonly gateway: Gateway
  readonly publicUrl: string | undefined
  readonly requireKey: (request: FastifyRequest) => Promise<KeyHolder>
}

/** What a request shows of its caller. `Authorization` wins: a program that sends it means it, a cookie goes along by itself. */
type Shown =
  | { readonly kind: 'token'; readonly token: string }
  | { readonly kind: 'cookie'; readonly token: string }
  | { readonly kind: 'key' }
  | { readonly kind: 'nothing' }

export function createCallerReader(options: CallerReaderOptions): CallerReader {
  const find = (request: FastifyRequest) => findCaller(options, request)

  const requireAccount = async (request: FastifyRequest): Promise<Caller> => {
    const found = await find(request)
    if (found === 'nothing')
      throw notSignedIn('api_key is required: send Authorization: Bearer <API key>, or sign in')
    if (found === 'ended') throw sessionEnded()
    return found
  }

  const requireSession = async (request: FastifyRequest): Promise<SessionCaller> => {
    const found = await find(request)
    if (found === 'nothing') throw notSignedIn('sign in first: this needs a session')
    if (found === 'ended') throw sessionEnded()
    if (found.kind === 'session') return found
    throw new GatewayError(40304, { message: 'an API key may not do this: sign in and use the session' })
  }

  return {
    requireAccount,
    requireSession,
    async requireAdmin(request) {
      const caller = await requireSession(request)
      if (caller.account.role !== 'admin' || caller.session.impersonator !== undefined) {
        throw new GatewayError(40304, { message: 'only an administrator may do this' })
      }
      return caller
    },
    async findAccount(request) {
      const found = await find(request)
      if (found === 'ended') throw sessionEnded()
      return found === 'nothing' ? undefined : found
    },
  }
}

/** `ended`: a session was named that is no more. */
async function findCaller(
  options: CallerReaderOptions,
  request: FastifyRequest,
): Promise<Caller | 'nothing' | 'ended'> {
  const { gateway, publicUrl, requireKey } = options
  const shown = shownBy(request, publicUrl)
  switch (shown.kind) {
    case 'key':
      return { kind: 'key', ...(await requireKey(request)) }
    case 'token':
      return (await callerOfSession(gateway, shown.token)) ?? 'ended'
    case 'cookie': {
      const caller = await callerOfSession(gateway, shown.token)
      // A cookie without a session opens nothing, so there is nothing to protect.
      if (caller === undefined) return 'nothing'
      requireSameOrigin({ method: request.method, headers: request.headers, publicUrl })
      return caller
    }
    case 'nothing':
      return 'nothing'
  }
}

async function callerOfSession(gateway: Gateway, token: string): Promise<SessionCaller | undefined> {
  const at = gateway.now()
  const session = await findSession(gateway.storage, token, at)
  if (session === undefined) return undefined
  const account = await gateway.storage.accounts.find(session.accountId)
  if (account === undefined) return undefined
  if (account.status === 'suspended') throw new GatewayError(40303)
  const use = useOf(session, at)
  if (use !== undefined) {
    gateway.telemetry.background.track(
      gateway.storage.identity.sessions.touch(session.id, use),
      'note that a session is used',
    )
  }
  return { kind: 'session', session, account }
}

function shownBy({ headers }: FastifyRequest, publicUrl: string | undefined): Shown {
  if (headers.authorization !== undefined) {
    const [, bearer = ''] = /^bearer +(\S+) *$/i.exec(headers.authorization) ?? []
    return isSessionToken(bearer) ? { kind: 'token', token: bearer } : { kind: 'key' }
  }
  const token = readSessionCookie(headers, publicUrl)
  return token === undefined ? { kind: 'nothing' } : { kind: 'cookie', token }
}

function notSignedIn(message: string): GatewayError {
  return new GatewayError(40001, { message })
}

function sessionEnded(): GatewayError {
  return new GatewayError(40101, { message: 'this session has ended: sign in again' })
}
