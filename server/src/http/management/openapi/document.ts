/** The OpenAPI document, made from the same schemas that validate. */
import * as z from 'zod'
import { ERRORS } from '../../../core/errors/catalogue.ts'
import { isJsonArray } from '../../../core/canonical/json-text.ts'
import { isJsonObject, type JsonObject } from '../../../core/json.ts'
import type { Right } from '../access/caller.ts'
import { impersonatorsPart } from '../access/impersonation.ts'
import type { DescribedCall } from './call-words.ts'
import { CALLS } from './calls.ts'
import { SCHEMAS } from './answers/schemas.ts'
import { GATEWAY_ERROR } from './answers/errors.ts'
import { TAGS } from './tags.ts'
import type { Access, RegisteredAnswer, RegisteredRoute } from '../route-types.ts'

export interface DocumentWords {
  readonly version: string
  /** undefined: the address the document was read from. */
  readonly serverUrl: string | undefined
}

export function buildDocument(routes: readonly RegisteredRoute[], words: DocumentWords): JsonObject {
  const paths: Record<string, Record<string, JsonObject>> = {}
  const put = (path: string, method: string, operation: JsonObject): void => {
    const item = paths[path] ?? {}
    paths[path] = item
    item[method] = operation
  }
  for (const call of CALLS) put(call.path, call.method, callOperation(call))
  for (const route of routes) {
    put(documentPath(route.path), route.method.toLowerCase(), routeOperation(route))
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Sluice',
      version: words.version,
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
      description: DESCRIPTION,
    },
    servers: [{ url: words.serverUrl ?? '/' }],
    tags: tagsOf(paths),
    paths: Object.fromEntries(Object.entries(paths).sort(([one], [other]) => (one < other ? -1 : 1))),
    components: { schemas: SCHEMAS, securitySchemes: SECURITY_SCHEMES },
  }
}

const DESCRIPTION = [
  'One address for every model. Calls (`/v1`, `/v1beta`) speak the protocols of the models’ vendors; everything under',
  '`/api/v1` answers `{code: 0, message: "ok", data}`, pages with `next_cursor` beside it. Errors have one envelope',
  'everywhere; `error.type` is `gateway_error` for our own, anything else came from upstream. Answers are described as closed:',
  'with every field that this version sends, or knows of the vendors whose answers it passes on untouched. Clients ignore',
  'fields that they do not know.',
].join(' ')

const SECURITY_SCHEMES: JsonObject = {
  key: { type: 'http', scheme: 'bearer', description: 'An API key.' },
  session: { type: 'http', scheme: 'bearer', description: 'The token of a session (`POST …/sign-in`).' },
  cookie: {
    type: 'apiKey',
    in: 'cookie',
    name: 'sluice_session',
    description: 'The same session for browsers; changing requests must come from this site.',
  },
}

/** The credentials a route accepts; an empty one means none. */
const SECURITY: Readonly<Record<Access, readonly JsonObject[]>> = {
  anonymous: [{}],
  optional: [{}, { key: [] }, { session: [] }, { cookie: [] }],
  account: [{ key: [] }, { session: [] }, { cookie: [] }],
  session: [{ session: [] }, { cookie: [] }],
  organisation: [{ session: [] }, { cookie: [] }],
  key: [{ key: [] }],
  admin: [{ session: [] }, { cookie: [] }],
}

function routeOperation(route: RegisteredRoute): JsonObject {
  const body = route.body === undefined ? undefined : schemaOf(route.body, 'input')
  const notes = [route.description, route.access === 'admin' ? 'For admins.' : undefined, noteOfRight(route)]
  const impersonator = impersonatorsPart(route)
  const description = notes.filter((note) => note !== undefined).join(' ')
  return {
    tags: [route.tag],
    operationId: operationId(route.method, route.path),
    summary: route.summary,
    ...(description === '' ? {} : { description }),
    'x-access': route.access,
    ...(route.for === undefined ? {} : { 'x-for': route.for }),
    ...(impersonator === undefined ? {} : { 'x-impersonator': impersonator }),
    ...(route.showsSecret === undefined ? {} : { 'x-shows-secret': true }),
    security: SECURITY[route.access],
    parameters: [
      ...parametersOf(route.params, 'path'),
      ...parametersOf(route.query, 'query'),
      ...(isForOrganisations(route) ? [GW_ORGANISATION] : []),
      ...(route.idempotency === undefined ? [] : [idempotencyHeader(route.idempotency)]),
      ...(route.caching === 'none' ? [] : [IF_NONE_MATCH]),
    ],
    ...(route.form === undefined ? {} : { requestBody: formBody(route.form) }),
    ...(body === undefined
      ? {}
      : {
          requestBody: {
            required: !route.body?.safeParse(undefined).success,
            content: { 'application/json': { schema: body } },
          },
        }),
    responses: {
      [String(route.status ?? 200)]: { description: 'OK', content: answerContent(route.answer) },
      ...(route.caching === 'none' ? {} : { '304': { description: 'Unchanged since the ETag.' } }),
      ...errorResponses(route),
    },
  }
}

function formBody(form: z.ZodType): JsonObject {
  return { required: true, content: { 'multipart/form-data': { schema: schemaOf(form, 'input') } } }
}

/** Whether the header that names an organisation is read. */
function isForOrganisations({ access, for: right }: RegisteredRoute): boolean {
  return access !== 'organisation' && right !== undefined && right !== 'person'
}

const RIGHT_NOTES: Readonly<Record<Exclude<Right, 'person'>, string>> = {
  member: 'every member, of their own',
  admin: 'its admins and owners',
  owner: 'its owners',
}

function noteOfRight(route: RegisteredRoute): string | undefined {
  const { access, for: right } = route
  if (right === undefined || right === 'person') return undefined
  if (access === 'organisation') return right === 'member' ? 'For members.' : `For ${RIGHT_NOTES[right]}.`
  return `With \`Gw-Organisation\`, for an organisation: ${RIGHT_NOTES[right]}.`
}

const GW_ORGANISATION: JsonObject = {
  name: 'Gw-Organisation',
  in: 'header',
  required: false,
  description:
    'With a session: the id of the organisation that is acted for; absent: for the person’s own account.',
  schema: { type: 'string', minLength: 1, maxLength: 128 },
}

const IF_NONE_MATCH: JsonObject = {
  name: 'If-None-Match',
  in: 'header',
  required: false,
  description: 'An ETag of an earlier answer: 304 while it is valid.',
  schema: { type: 'string' },
}

function idempotencyHeader(rule: 'required' | 'optional'): JsonObject {
  return {
    name: 'Idempotency-Key',
    in: 'header',
    required: rule === 'required',
    description: 'One value per request; if it is repeated, the request has no second effect.',
    schema: { type: 'string', minLength: 1, maxLength: 200 },
  }
}

function answerContent(answer: RegisteredAnswer): JsonObject {
  const schema = schemaOf(answer.schema, 'output')
  switch (answer.kind) {
    case 'data':
      return { 'application/json': { schema: envelope({ data: schema }) } }
    case 'page':
      return {
        'application/json': {
          schema: envelope({
            data: { type: 'array', items: schema },
            next_cursor: { type: ['string', 'null'] },
          }),
        },
      }
    case 'raw':
      return Object.fromEntries(
        [
          ...[answer.contentType, ...(answer.otherTypes ?? [])].map((type) => [type, schema] as const),
          ...Object.entries(answer.otherSchemas ?? {}).map(
            ([type, other]) => [type, schemaOf(other, 'output')] as const,
          ),
        ].map(([type, of]) => [type.split(';')[0] ?? type, { schema: of }]),
      )
  }
}

function envelope(members: JsonObject): JsonObject {
  return {
    type: 'object',
    required: ['code', 'message', ...Object.keys(members)],
    properties: { code: { const: 0 }, message: { const: 'ok' }, ...members },
    additionalProperties: false,
  }
}

const SIGNED_IN: readonly Access[] = ['session', 'organisation', 'admin']

/** The codes a client has to expect, by status; all other errors have the same envelope. */
function errorResponses(route: RegisteredRoute): JsonObject {
  const codes = [
    40000,
    ...(route.access === 'anonymous' ? [] : [40001, 40101]),
    ...(SIGNED_IN.includes(route.access) ? [40304] : []),
    ...(route.path.includes(':') ? [40403] : []),
    ...(route.errors ?? []),
  ]
  return failures(codes, GATEWAY_ERROR)
}

function failures(codes: readonly number[], schema: JsonObject): JsonObject {
  const content = { 'application/json': { schema } }
  const known = Object.entries(ERRORS).filter(([code]) => codes.includes(Number(code)))
  const byStatus = new Map<number, string[]>()
  for (const [code, { status, title }] of known) {
    byStatus.set(status, [...(byStatus.get(status) ?? []), `${code} ${title}`])
  }
  return {
    ...Object.fromEntries(
      [...byStatus].map(([status, told]) => [String(status), { description: told.join(', '), content }]),
    ),
    '4XX': { description: 'Any other refusal.', content },
    '5XX': { description: 'The gateway, or what it needs, is at fault.', content },
  }
}

function parametersOf(schema: z.ZodType, place: 'path' | 'query'): readonly JsonObject[] {
  const { properties, required } = schemaOf(schema, 'input')
  if (!isJsonObject(properties)) return []
  const needed = isJsonArray(required) ? required : []
  return Object.entries(properties).map(([name, member]) => ({
    name: name === '*' ? 'path' : name,
    in: place,
    required: place === 'path' || needed.includes(name),
    ...(isJsonObject(member) && typeof member['description'] === 'string'
      ? { description: member['description'] }
      : {}),
    schema: member ?? {},
  }))
}

/** A schema as the document writes it: without the keywords of a standalone document. */
function schemaOf(schema: z.ZodType, io: 'input' | 'output'): JsonObject {
  const {
    $schema: _dialect,
    '~standard': _standard,
    $defs: _own,
    ...rest
  } = z.toJSONSchema(schema, {
    io,
    target: 'draft-2020-12',
    unrepresentable: 'any',
  })
  // Through JSON, which drops values that a document cannot contain.
  const plain: unknown = JSON.parse(JSON.stringify(rest), (_name, value: unknown) =>
    isJsonObject(value) ? asPartOfTheDocument(value) : value,
  )
  return isJsonObject(plain) ? plain : {}
}

/**
 * A format makes its pattern redundant. A recursive schema becomes any JSON, because references are resolved from the
 * document's root.
 */
function asPartOfTheDocument(value: JsonObject): JsonObject {
  const { $ref, format } = value
  if (typeof $ref === 'string' && $ref.startsWith('#/$defs/')) return {}
  return typeof format === 'string' ? { ...value, pattern: undefined } : value
}

/** `:id` → `{id}`, and the rest of a path → `{path}`. */
export function documentPath(path: string): string {
  return path.replace(/:(\w+)/g, '{$1}').replace('*', '{path}')
}

function operationId(method: string, path: string): string {
  const words = documentPath(path)
    .replace(/^\/api\/v1\/(user\/user\/)?/, '')
    .split(/[^A-Za-z0-9]+/)
  return [method.toLowerCase(), ...words.filter((word) => word !== '')].join('_')
}

function callOperation(call: DescribedCall): JsonObject {
  return {
    tags: [call.tag],
    operationId: operationId(call.method, call.path.replaceAll(':', '/')),
    summary: call.summary,
    description: call.description,
    'x-access': 'key',
    security: SECURITY.key,
    parameters: call.parameters ?? [],
    ...(call.request === undefined && call.multipart === undefined
      ? {}
      : {
          requestBody: {
            required: true,
            content: {
              ...(call.request === undefined ? {} : { 'application/json': { schema: call.request } }),
              ...(call.multipart === undefined ? {} : { 'multipart/form-data': { schema: call.multipart } }),
            },
          },
        }),
    responses: callResponses(call),
  }
}

function callResponses(call: DescribedCall): JsonObject {
  const { answer, also, answerType = 'application/json', event, error, codes } = call
  return {
    '200': {
      description: 'OK',
      content: {
        [answerType]: { schema: answer },
        ...(event === undefined ? {} : { 'text/event-stream': { schema: event } }),
      },
    },
    ...also,
    ...failures(codes, error),
  }
}

function tagsOf(
  paths: Readonly<Record<string, Readonly<Record<string, JsonObject>>>>,
): readonly JsonObject[] {
  const names = Object.values(paths)
    .flatMap((item) => Object.values(item))
    .flatMap(({ tags }) => (isJsonArray(tags) ? tags : []))
  return Object.entries(TAGS)
    .filter(([name]) => names.includes(name))
    .map(([name, description]) => ({ name, description }))
}
