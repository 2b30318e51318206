/** What a route of the management API is. */
import type { Caller, SessionCaller, MemberCaller, Right } from './access/caller.ts'
import type { KeyHolder } from '../../pipeline/instance/directory.ts'
import type { z } from 'zod'
import type { FastifyRequest } from 'fastify'
import type { ServerResponse } from 'node:http'
import type { Tag } from './openapi/tags.ts'

/**
 * `anonymous`: no credential is read. `optional`: a credential is used if there is one. `account`: a session or an API
 * key. `session`: a signed-in person. `organisation`: a signed-in member of the organisation that `:organisation` in
 * the path names. `key`: an API key only. `admin`: a session of role admin.
 */
export type Access = keyof CallerByAccess

export interface CallerByAccess {
  readonly anonymous: undefined
  readonly optional: Caller | undefined
  readonly account: Caller
  readonly session: SessionCaller
  readonly organisation: MemberCaller
  readonly key: KeyHolder
  readonly admin: SessionCaller
}

/**
 * The lowest right with which a route may be used for an organisation. Required if callers of the route may act for
 * one, so that a route without it does not compile; otherwise not allowed.
 */
export type ForWord<Who extends Access> = Who extends 'optional' | 'account' | 'session'
  ? { readonly for: Right }
  : Who extends 'organisation'
    ? { readonly for: Exclude<Right, 'person'> }
    : { readonly for?: never }

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/** What every kind of route declares. */
export interface RouteWords<
  Who extends Access,
  Params extends z.ZodType,
  Query extends z.ZodType,
  Body extends z.ZodType,
> {
  readonly method: Method
  /** As the framework writes it: `/api/v1/user/user/keys/:id`. */
  readonly path: string
  readonly access: Who
  /** See `ForWord`. */
  readonly for?: Right
  /** The chapter of the reference page. */
  readonly tag: Tag
  /** One line, in the imperative. */
  readonly summary: string
  readonly description?: string
  readonly params?: Params
  /** If this is a strict object, unknown members of the query string are refused. */
  readonly query?: Query
  /** A strict object: unknown members are refused with their path. */
  readonly body?: Body
  /** A multipart form that the handler reads itself, piece by piece: its fields, for the document. Excludes `body`. */
  readonly form?: z.ZodType
  /** Status of the successful answer; absent: 200. */
  readonly status?: 200 | 201 | 202
  /** The `Idempotency-Key` header: required or optional. Absent: it is not read. */
  readonly idempotency?: 'required' | 'optional'
  /**
   * `etag`: the answer carries an ETag and an unchanged one is 304, for what consoles poll. Absent: `etag` for every
   * GET whose answer has the gateway's envelope.
   */
  readonly caching?: 'etag' | 'none'
  /** Whether an admin who impersonates the account may do this. Absent: only if it reads. */
  readonly impersonator?: 'may' | 'never'
  /**
   * The answer contains a secret that the caller did not send: this is recorded in the security log, and never shown to
   * an impersonator.
   */
  readonly showsSecret?: true
  /** Open to administrators who must have a second factor but have not verified one: what is needed to set one up. */
  readonly withoutSecondFactor?: 'may'
  /** A POST that changes nothing; used for an organisation, it makes no entry in the audit log. */
  readonly reads?: true
  /** Gateway errors besides 400, 401, 403 and 404 that a client has to expect, by code. */
  readonly errors?: readonly number[]
}

export interface RouteRequest<
  Who extends Access,
  Params extends z.ZodType,
  Query extends z.ZodType,
  Body extends z.ZodType,
> {
  readonly params: z.output<Params>
  readonly query: z.output<Query>
  readonly body: z.output<Body>
  readonly caller: CallerByAccess[Who]
  /** What the client sent as `Idempotency-Key`, where the route reads it. */
  readonly idempotencyKey: string | undefined
  readonly request: FastifyRequest
  readonly reply: RouteReply
}

/** What a handler may do to its answer besides returning it. */
export interface RouteReply {
  statusCode: number
  header(name: string, value: string | readonly string[]): unknown
  type(contentType: string): unknown
  readonly raw: ServerResponse
}

/** Views are read-only; zod's types are not. */
export type Answered<Value> = unknown extends Value
  ? unknown
  : Value extends string | number | boolean | null | undefined
    ? Value
    : { readonly [Name in keyof Value]: Answered<Value[Name]> }

export type DataRoute<
  Who extends Access,
  Params extends z.ZodType,
  Query extends z.ZodType,
  Body extends z.ZodType,
  Data extends z.ZodType,
> = RouteWords<Who, Params, Query, Body> &
  ForWord<Who> & {
    /** The content of `data` in `{code: 0, message: 'ok', data}`. */
    readonly data: Data
    handle(
      request: RouteRequest<Who, Params, Query, Body>,
    ): Promise<Answered<z.output<Data>>> | Answered<z.output<Data>>
  }

export type PageRoute<
  Who extends Access,
  Params extends z.ZodType,
  Query extends z.ZodType,
  Body extends z.ZodType,
  Row extends z.ZodType,
> = RouteWords<Who, Params, Query, Body> &
  ForWord<Who> & {
    /** One element of `data`, which is accompanied by `next_cursor`. */
    readonly row: Row
    handle(request: RouteRequest<Who, Params, Query, Body>): Promise<Page<Answered<z.output<Row>>>>
  }

export interface Page<Row> {
  readonly rows: readonly Row[]
  /** Start of the next page, passed back in `query.cursor`; undefined: this was the last page. */
  readonly next: string | undefined
}

export interface RawAnswer {
  readonly contentType: string
  /** Other content types that the handler may choose. */
  readonly otherTypes?: readonly string[]
  /** The same for content types with another schema. */
  readonly otherSchemas?: Readonly<Record<string, z.ZodType>>
  readonly schema: z.ZodType
}

export type RawRoute<
  Who extends Access,
  Params extends z.ZodType,
  Query extends z.ZodType,
  Body extends z.ZodType,
> = RouteWords<Who, Params, Query, Body> &
  ForWord<Who> & {
    /** The whole answer, for other formats: another API's list, a file, a page. */
    readonly answer: RawAnswer
    /** Sets its own headers on `reply`; its result is sent unchanged. */
    handle(request: RouteRequest<Who, Params, Query, Body>): unknown
  }

/** A route as the OpenAPI document and the authorisation matrix see it. */
export interface RegisteredRoute
  extends Omit<RouteWords<Access, z.ZodType, z.ZodType, z.ZodType>, 'params' | 'query' | 'body'> {
  readonly params: z.ZodType
  readonly query: z.ZodType
  /** undefined: it takes none. */
  readonly body: z.ZodType | undefined
  readonly answer: RegisteredAnswer
  readonly caching: 'etag' | 'none'
}

export type RegisteredAnswer =
  | { readonly kind: 'data' | 'page'; readonly schema: z.ZodType }
  | ({ readonly kind: 'raw' } & RawAnswer)
